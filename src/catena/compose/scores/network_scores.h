/// Local scores from a trained score network, for the transitions of one series.
#pragma once

#include <Eigen/Core>
#include <memory>

#include "catena/compose/observed_series.h"
#include "catena/compose/scores/local_scores.h"
#include "catena/compose/series_state.h"
#include "catena/model/score/score_model.h"

namespace catena::compose {

/// A separable network's sums have the fast path of LocalScores::summed. The result keeps what it needs of both.
std::unique_ptr<LocalScores> network_scores(const model::ScoreModel& model, const ObservedSeries& series);

/// s_i(θ_a, a) of every record at one θ_a, a row each: networks run over the records, not over particles.
void scores_of_records(const model::ScoreModel& model, const ObservedSeries& records, std::span<const double> theta_a,
                       double a, MatrixView out);

/// What a separable score needs of a series: Σ_t C_t ("precision_sum") and, of each network, the coefficients of Φ and
/// b
/// ("coefficients.0", …).
SeriesSums score_sums(const model::ScoreModel& model, const ObservedSeries& series);

/// The source of local scores of a stream's sums: sums are all it has.
std::unique_ptr<LocalScores> scores_of_sums(const model::ScoreModel& model, const SeriesSums& sums,
                                            std::size_t transitions);

/// Σ_t C_t − (T−1) I: the precision of the series at a = 0, before repair.
Eigen::MatrixXd precision_of_sums(const SeriesSums& sums, std::size_t transitions);

}  // namespace catena::compose

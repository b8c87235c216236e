/// Local scores from a trained score network, for the transitions of one series.
#pragma once

#include <memory>

#include "catena/compose/observed_series.h"
#include "catena/compose/scores/local_scores.h"
#include "catena/model/score/score_model.h"

namespace catena::compose {

/// A separable network's sums have the fast path of LocalScores::summed. The result keeps what it needs of both.
std::unique_ptr<LocalScores> network_scores(const model::ScoreModel& model, const ObservedSeries& series);

}  // namespace catena::compose

/// Local scores from a trained score network, for the transitions of one series.
#pragma once

#include <memory>

#include "catena/compose/local_scores.h"
#include "catena/compose/observed_series.h"
#include "catena/diffusion/schedule.h"
#include "catena/train/fnse.h"

namespace catena::compose {

/// A score model ready for use: its settings read back from the file.
struct ScoreModel {
  /// Throws InputError if the model is not of method fnse. `model` must outlive this.
  explicit ScoreModel(const train::TrainedModel& model);

  const train::TrainedModel* model;
  train::FnseSettings settings;
  diffusion::Schedule schedule;
};

/// With network = likelihood (likelihood_scores.cpp).
std::unique_ptr<LocalScores> likelihood_scores(const ScoreModel& model, const ObservedSeries& series);

/// Whatever the model's network. A separable one's sums have the fast path of LocalScores::summed. The result keeps
/// what it needs of both.
std::unique_ptr<LocalScores> network_scores(const ScoreModel& model, const ObservedSeries& series);

/// Precisions C_t of the local posteriors from the model's amortised Gaussian, full matrices, one transition a row.
LocalPrecisions amortised_precisions(const ScoreModel& model, const ObservedSeries& series);

}  // namespace catena::compose

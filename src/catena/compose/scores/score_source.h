/// Where local scores come from, by the method of the model: one line of the registry for each method that has them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "catena/compose/observed_series.h"
#include "catena/compose/scores/local_scores.h"
#include "catena/core/registry.h"
#include "catena/model/trained_model.h"

namespace catena::compose {

struct ScoreSource {
  std::string_view name;  // the method's
  /// The name of the noise schedule that the model was trained with.
  std::string (*schedule)(const model::TrainedModel& model);
  /// The scores of a series' transitions. The result keeps what it needs of both.
  std::unique_ptr<LocalScores> (*scores)(const model::TrainedModel& model, const ObservedSeries& series);
  /// Precisions C_t of the local posteriors from the model's amortised Gaussian, full matrices, one transition a row.
  LocalPrecisions (*precisions)(const model::TrainedModel& model, const ObservedSeries& series);
};

const Registry<ScoreSource>& score_sources();

}  // namespace catena::compose

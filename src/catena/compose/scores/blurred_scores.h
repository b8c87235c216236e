/// Local scores by a density with blurred parameters (model/density/blur.h), for the transitions of one series.
#pragma once

#include <memory>

#include "catena/compose/observed_series.h"
#include "catena/compose/scores/local_scores.h"
#include "catena/model/density/blurred_model.h"

namespace catena::compose {

/// The result keeps what it needs of both.
std::unique_ptr<LocalScores> blurred_scores(const model::BlurredModel& model, const ObservedSeries& series);

}  // namespace catena::compose

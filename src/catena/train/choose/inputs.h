/// What a density or a ratio should see of a transition, chosen by what the training data show.
#pragma once

#include "catena/model/density/inputs.h"
#include "catena/train/data.h"

namespace catena::train {

/// Replaces every auto but that of log_increments, which the data must see already (choose_coordinates.h).
model::DensityInputSettings choose_inputs(const model::DensityInputSettings& settings, const TrainingData& data);

}  // namespace catena::train

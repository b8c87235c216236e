/// The observed series of verbs that use a trained model.
#pragma once

#include <string>
#include <string_view>

#include "catena/files/csv.h"
#include "catena/train/model.h"

namespace catena::cli {

/// Throws InputError, whose sentence begins with `function`, if the columns have other names than the model's states.
files::Series read_observation(std::string_view function, const std::string& path, const train::TrainedModel& model);

}  // namespace catena::cli

/// Which records to simulate, as JSON: {} plain transitions, {"block": 5}, {"initial": true}, {"gaps": "1..6"}.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "catena/simulate/records/record.h"

namespace catena::simulate {

/// Throws InputError, in a sentence that begins with `function`, for a field that no record has.
RecordPlan record_plan(std::string_view function, const nlohmann::json& json);

}  // namespace catena::simulate

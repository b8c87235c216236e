#include "catena/simulate/records/record_plan.h"

#include <fmt/format.h>

#include "catena/core/check.h"

namespace catena::simulate {

RecordPlan record_plan(std::string_view function, const nlohmann::json& json) {
  check::that(json.is_object(), function, "a record", json.dump(), "an object");
  RecordPlan plan;
  for (const auto& [name, value] : json.items()) {
    if (name == "block" && value.is_number_unsigned() && value.get<std::size_t>() > 0) {
      plan.block = value.get<std::size_t>();
    } else if (name == "initial" && value.is_boolean()) {
      plan.initial = value.get<bool>();
    } else if (name == "gaps" && value.is_string()) {
      plan.varying_steps = true;
      plan.steps = parse_steps(function, "gaps", value.get<std::string>());
    } else {
      throw InputError(
          fmt::format("{}: a record has {}, but must have \"block\" (a number from 1 on), "
                      "\"initial\" (true or false) or \"gaps\" (\"LOW..HIGH\")",
                      function, nlohmann::json{{name, value}}.dump()));
    }
  }
  return plan;
}

}  // namespace catena::simulate

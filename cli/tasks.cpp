// catena tasks: the built-in simulators and their options.

#include <memory>

#include "catena/tasks/task.h"
#include "common.h"
#include "verb.h"

namespace catena::cli {

namespace {

nlohmann::json describe(const tasks::TaskEntry& entry) {
  const tasks::Task task = entry.make(nlohmann::json::object());
  nlohmann::json options = nlohmann::json::array();
  for (const FieldInfo& field : entry.options) {
    options.push_back({{"name", field.name},
                       {"flag", flag_of(field.name)},
                       {"default", task.options[field.name]},
                       {"help", field.help},
                       {"must_be", field.must_be}});
  }
  return {{"name", entry.name},
          {"help", entry.help},
          {"version", task.version},
          {"parameters", task.simulator.parameter_names},
          {"states", task.simulator.state_names},
          {"covariates", task.simulator.covariate_names},
          {"uses_time", task.simulator.uses_time},
          {"order", task.simulator.order},
          {"initial_depends_on_theta", static_cast<bool>(task.initial_given_theta)},
          {"prior", task.prior.to_json()},
          {"proposal", simulate::default_proposal(task, 10000)},
          {"fixed_proposal", task.fixed_proposal},
          {"options", options}};
}

int run_tasks(const Common& common) {
  if (common.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const tasks::TaskEntry& entry : tasks::registry()) list.push_back(describe(entry));
    print_json({{"tasks", list}});
    return success;
  }
  for (const tasks::TaskEntry& entry : tasks::registry()) {
    const tasks::Task task = entry.make(nlohmann::json::object());
    fmt::print("{:<16} {}; d = {}, n = {}\n", entry.name, entry.help, task.simulator.parameters(),
               task.simulator.states());
    for (const FieldInfo& field : entry.options) {
      fmt::print("    {:<18} {} (default {})\n", flag_of(field.name), field.help, field.default_value);
    }
  }
  return success;
}

Run set_up_tasks(CLI::App& app) {
  const auto common = std::make_shared<Common>();
  app.add_flag("--json", common->json, "print one JSON object on standard output and nothing else there");
  return [common] { return run_tasks(*common); };
}

}  // namespace

Verb tasks_verb() { return {"tasks", "list the built-in simulators and their options", set_up_tasks}; }

}  // namespace catena::cli

/// A built-in simulator: a prior and one transition, with everything else derived. One file per task, one line per task
/// in registry.cpp; the command line, Python, the tests and the docs find them there.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/config.h"
#include "catena/core/registry.h"
#include "catena/simulate/model.h"

namespace catena::tasks {

struct Task : simulate::Model {
  std::string name;
  nlohmann::json options;  // all of them, defaults included
  int version = 1;  // of the task's code: caches of references depend on it; raised when the distribution changes
};

struct TaskEntry {
  std::string_view name;
  std::string_view help;
  std::vector<FieldInfo> options;
  Task (*make)(const nlohmann::json& options);
};

/// All tasks.
const Registry<TaskEntry>& registry();

/// The task of that name; `options` names those that differ from the defaults.
Task make_task(std::string_view name, const nlohmann::json& options = nlohmann::json::object());

// For the tasks' files: fixed proposals N(0, sd² I) and Unif(low, high)^n; `times` > 0 adds t uniform on 0 … times − 1.
nlohmann::json normal_proposal(std::size_t states, double sd, std::size_t times = 0);
nlohmann::json uniform_proposal(std::size_t states, double low, double high);

/// The parts that every task has: N(0, I) on theta_1 … theta_d, states x_1 … x_n or the given names.
template <class Options, simulate::Stepper S>
Task make_task_of(std::string_view name, const Options& options, std::size_t parameters,
                  std::vector<std::string> state_names, S stepper, bool uses_time = false) {
  Task task;
  task.name = name;
  task.options = to_json(options);
  const auto names = simulate::numbered_names("theta", parameters);
  task.prior = prior::Prior::standard(names);
  task.simulator =
      simulate::make_simulator(std::string(name), names, std::move(state_names), std::move(stepper), uses_time);
  return task;
}

}  // namespace catena::tasks

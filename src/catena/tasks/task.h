/// A built-in simulator: a prior, one transition and, where it is known, the exact likelihood. Each has a room of its
/// own, the folder that bears its name, and one line in registry.cpp; the command line, Python, the tests and the docs
/// find it there. Series, data sets and the budget are derived.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/config.h"
#include "catena/core/registry.h"
#include "catena/simulate/model.h"

namespace catena::tasks {

class SeriesLikelihood;  // likelihood.h

struct Task : simulate::Model {
  std::string name;
  nlohmann::json options;  // all of them, defaults included
  int version = 1;  // of the task's code: caches of references depend on it; raised when the distribution changes
};

/// States that follow each other by steps of one length: what a likelihood is made of.
struct Run {
  ConstMatrixView states;
  double step = 1;                  // of the simulator's
  double first_time = 0;            // t of its first state
  bool from_start = true;           // that one is x⁰
  ConstMatrixView covariates = {};  // of its states, where the simulator has any
};

/// Everything that a task is. A room makes its own by parts::entry_of.
struct TaskEntry {
  std::string_view name;
  std::string_view help;
  std::vector<FieldInfo> options;
  std::function<Task(const nlohmann::json& options)> make;
  /// The exact likelihood of a run; none: it is not known, and the task has no reference.
  std::function<std::unique_ptr<SeriesLikelihood>(const nlohmann::json& options, const Run& run)> likelihood = nullptr;
  bool any_step = false;  // the likelihood is known over runs of several steps each, too
  /// Options of a setting that costs little and shows the same code, for those who run over all tasks; none: the
  /// defaults do.
  nlohmann::json small = nlohmann::json::object();
};

/// All tasks.
const Registry<TaskEntry>& registry();

/// The task of that name; `options` names those that differ from the defaults.
Task make_task(std::string_view name, const nlohmann::json& options = nlohmann::json::object());

}  // namespace catena::tasks

/// What the rooms make their tasks of: the entry of the registry, the task itself, default proposals.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "catena/core/config.h"
#include "catena/tasks/likelihood.h"
#include "catena/tasks/task.h"

namespace catena::tasks::parts {

/// Over which steps between observed states a likelihood is known: single ones, or any whole number of them.
enum class Steps { one, any };

/// The entry of a task whose options are a configuration (core/config.h). Without a likelihood there is no exact
/// posterior.
template <Config Options>
TaskEntry entry_of(
    std::string_view name, std::string_view help, Task (*make)(const Options&),
    std::type_identity_t<std::unique_ptr<SeriesLikelihood> (*)(const Options&, const Run&)> likelihood = nullptr,
    Steps steps = Steps::one) {
  TaskEntry entry{name, help, describe_fields<Options>(), [make](const nlohmann::json& options) {
                    Task task = make(from_json<Options>("task", options));
                    // Who names the width of the fixed proposal wants it.
                    for (const char* width : {"proposal_sd", "proposal_width"}) {
                      if (options.contains(width)) task.proposal = task.fixed_proposal;
                    }
                    return task;
                  }};
  if (likelihood != nullptr) {
    entry.likelihood = [name, likelihood](const nlohmann::json& options, const Run& run) {
      return likelihood(from_json<Options>(name, options), run);
    };
    entry.any_step = steps == Steps::any;
  }
  return entry;
}

/// One transition of every lane (simulate/simulator.h).
using StepFunction = std::function<void(const simulate::StepInput&, Stream&, StateBlock next)>;

/// The parts that every task has: a prior, states of the given names, one transition.
template <Config Options>
Task make_task_of(std::string_view name, const Options& options, prior::Prior prior,
                  std::vector<std::string> state_names, StepFunction step) {
  Task task;
  task.name = name;
  task.options = to_json(options);
  task.prior = std::move(prior);
  task.simulator.name = name;
  task.simulator.parameter_names = task.prior.names();
  task.simulator.state_names = std::move(state_names);
  task.simulator.step = std::move(step);
  return task;
}

/// N(0, I) on theta_1 … theta_d.
template <Config Options>
Task make_task_of(std::string_view name, const Options& options, std::size_t parameters,
                  std::vector<std::string> state_names, StepFunction step) {
  return make_task_of(name, options, prior::Prior::standard(simulate::numbered_names("theta", parameters)),
                      std::move(state_names), std::move(step));
}

/// Rates between two bounds, least + range · sigmoid(z) with z ~ N(0, 1): the paper's unconstrained parameters are z.
prior::Prior rates_between(const std::vector<std::string>& names, double least, double range);

// Fixed proposals N(0, sd² I) and Unif(low, high)^n; `times` > 0 adds t uniform on 0 … times − 1.
nlohmann::json normal_proposal(std::size_t states, double sd, std::size_t times = 0);
nlohmann::json uniform_proposal(std::size_t states, double low, double high);

}  // namespace catena::tasks::parts

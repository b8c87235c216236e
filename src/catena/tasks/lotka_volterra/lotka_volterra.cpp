#include "catena/tasks/lotka_volterra/lotka_volterra.h"

#include <functional>

#include "catena/tasks/parts/make.h"

namespace catena::tasks::lotka_volterra {

Task make(const Options& options) {
  check_config("lotka_volterra", options);
  constexpr Constants constants;
  Task task = parts::make_task_of(
      "lotka_volterra", options,
      parts::rates_between({"alpha", "beta", "gamma", "delta"}, constants.least_rate, constants.rate_range),
      {"prey", "predators"}, std::bind_front(step, options.sigma));
  task.version = 2;  // 2: rates instead of what their sigmoids are taken of
  task.initial_state = simulate::fixed_state({1, 0.5});
  task.fixed_proposal = parts::uniform_proposal(2, 0, options.proposal_width);
  task.predictive = {{"series", 50}, {"length", 100}, {"noise", 0.2}, {"non_negative", true}};
  return task;
}

TaskEntry entry() {
  return parts::entry_of("lotka_volterra", "predators and prey, four rates", make,
                         [](const Options& options, const Run& run) { return likelihood(options, run.states); });
}

}  // namespace catena::tasks::lotka_volterra

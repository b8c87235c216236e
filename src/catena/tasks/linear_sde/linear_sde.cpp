#include "catena/tasks/linear_sde/linear_sde.h"

#include <functional>

#include "catena/tasks/parts/make.h"

namespace catena::tasks::linear_sde {

Task make(const Options& options) {
  check_config("linear_sde", options);
  const auto dim = static_cast<std::size_t>(options.dim);
  Task task = parts::make_task_of("linear_sde", options, 2 * dim * dim, simulate::numbered_names("x", dim),
                                  std::bind_front(step, options.drift_scale));
  task.initial_state = simulate::fixed_state(std::vector<double>(dim, 0.0));
  task.fixed_proposal = parts::normal_proposal(dim, options.proposal_sd);
  return task;
}

TaskEntry entry() {
  return parts::entry_of(
      "linear_sde", "a linear stochastic differential equation, drift and diffusion unknown", make,
      [](const Options& options, const Run& run) {
        Constants constants;
        constants.steps *= static_cast<int>(run.step);
        return likelihood(options, run.states, constants);
      },
      parts::Steps::any);
}

}  // namespace catena::tasks::linear_sde

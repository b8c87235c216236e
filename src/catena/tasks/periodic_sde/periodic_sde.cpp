#include "catena/tasks/periodic_sde/periodic_sde.h"

#include <functional>

#include "catena/tasks/parts/make.h"

namespace catena::tasks::periodic_sde {

Task make(const Options& options) {
  check_config("periodic_sde", options);
  Task task = parts::make_task_of("periodic_sde", options, 2, simulate::numbered_names("x", 2),
                                  std::bind_front(step, options.sign()));
  task.initial_state = simulate::fixed_state({-0.5, 0.5});
  task.fixed_proposal = parts::normal_proposal(2, options.proposal_sd);
  return task;
}

TaskEntry entry() {
  return parts::entry_of(
      "periodic_sde", "a stochastic oscillator in two dimensions, four modes", make,
      [](const Options& options, const Run& run) {
        Constants constants;
        constants.steps *= static_cast<int>(run.step);
        return likelihood(options, run.states, constants);
      },
      parts::Steps::any);
}

}  // namespace catena::tasks::periodic_sde

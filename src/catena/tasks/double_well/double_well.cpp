#include "catena/tasks/double_well/double_well.h"

#include "catena/tasks/parts/make.h"

namespace catena::tasks::double_well {

Task make(const Options& options) {
  check_config("double_well", options);
  constexpr std::size_t states = Constants{}.states;
  Task task = parts::make_task_of("double_well", options, 2, simulate::numbered_names("x", states), step);
  const double s = options.start;
  task.initial_state = simulate::fixed_state({s, -s, s, -s});
  task.fixed_proposal = parts::uniform_proposal(states, -options.proposal_width, options.proposal_width);
  return task;
}

TaskEntry entry() {
  return parts::entry_of("double_well", "four particles in a double-well potential", make,
                         [](const Options&, const Run& run) { return likelihood(run.states); });
}

}  // namespace catena::tasks::double_well

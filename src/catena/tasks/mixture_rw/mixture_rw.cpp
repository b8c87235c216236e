#include "catena/tasks/mixture_rw/mixture_rw.h"

#include <functional>

#include "catena/tasks/parts/make.h"

namespace catena::tasks::mixture_rw {

Task make(const Options& options) {
  check_config("mixture_rw", options);
  const auto dim = static_cast<std::size_t>(options.dim);
  Task task = parts::make_task_of("mixture_rw", options, dim, simulate::numbered_names("x", dim),
                                  std::bind_front(step, options.sigma));
  task.initial_state = simulate::fixed_state(std::vector<double>(dim, 0.0));
  task.fixed_proposal = parts::normal_proposal(dim, options.proposal_sd);
  return task;
}

TaskEntry entry() {
  return parts::entry_of("mixture_rw", "x' = x ± theta + sigma noise, either sign with equal chance", make,
                         [](const Options& options, const Run& run) { return likelihood(options, run.states); });
}

}  // namespace catena::tasks::mixture_rw

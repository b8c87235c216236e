#include "catena/tasks/coin_walk/coin_walk.h"

#include <cmath>

#include "catena/tasks/parts/make.h"

namespace catena::tasks::coin_walk {

namespace {

void step(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  stream.fill_normal({next.feature(0), next.lanes});
  for (std::size_t l = 0; l < next.lanes; ++l) next(0, l) += input.state(0, l) + std::tanh(input.theta(0, l));
}

}  // namespace

Task make(const Options& options) {
  check_config("coin_walk", options);
  Task task = parts::make_task_of("coin_walk", options, 1, {"x"}, step);
  task.initial_state = simulate::fixed_state({0.0});
  task.fixed_proposal = parts::normal_proposal(1, options.proposal_sd);
  return task;
}

TaskEntry entry() { return parts::entry_of("coin_walk", "a walk whose drift is tanh θ", make); }

}  // namespace catena::tasks::coin_walk

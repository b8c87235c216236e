// x^(t+1) = s (θ_1 x^t + θ_2 x^(t−1) + … + θ_m x^(t−m+1)) + ε, ε ~ N(0, 1), s = 0.3; the first m states are 0, …, 0, 1.

#include "catena/tasks/ar.h"

namespace catena::tasks {

namespace {
struct ArStepper {
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    stream.fill_normal({next.feature(0), next.lanes});
    for (std::size_t j = 0; j < input.theta.features; ++j) {
      for (std::size_t l = 0; l < next.lanes; ++l) next(0, l) += ar_scale * input.theta(j, l) * input.state(j, l);
    }
  }
};
}  // namespace

Task make_ar(const ArOptions& options) {
  check_config("ar", options);
  const auto order = static_cast<std::size_t>(options.order);
  Task task = make_task_of("ar", options, order, {"x"}, ArStepper{});
  task.simulator.order = order;
  std::vector<double> start(order, 0.0);
  start.front() = 1;  // the latest: with zeros alone the first transition would say nothing
  task.initial_state = simulate::fixed_state(std::move(start));
  task.proposal = normal_proposal(1, options.proposal_sd);
  return task;
}

}  // namespace catena::tasks

// x' = c x + θ + ε, ε ~ N(0, I), c = 0.9, with x⁰ from the stationary distribution N(θ/(1−c), I/(1−c²)).

#include "catena/tasks/stationary_ar1.h"

#include <cmath>

namespace catena::tasks {

namespace {

constexpr double c = stationary_ar1_coefficient;

struct Ar1Stepper {
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    for (std::size_t i = 0; i < next.features; ++i) {
      stream.fill_normal({next.feature(i), next.lanes});
      for (std::size_t l = 0; l < next.lanes; ++l) next(i, l) += c * input.state(i, l) + input.theta(i, l);
    }
  }
};

void draw_initial(ConstStateBlock theta, Stream& stream, StateBlock state) {
  const double sd = 1 / std::sqrt(1 - c * c);
  for (std::size_t i = 0; i < state.features; ++i) {
    stream.fill_normal({state.feature(i), state.lanes});
    for (std::size_t l = 0; l < state.lanes; ++l) state(i, l) = theta(i, l) / (1 - c) + sd * state(i, l);
  }
}

}  // namespace

Task make_stationary_ar1(const StationaryAr1Options& options) {
  check_config("stationary_ar1", options);
  const auto dim = static_cast<std::size_t>(options.dim);
  Task task = make_task_of("stationary_ar1", options, dim, simulate::numbered_names("x", dim), Ar1Stepper{});
  task.initial_given_theta = draw_initial;
  task.proposal = normal_proposal(dim, options.proposal_sd);
  return task;
}

}  // namespace catena::tasks

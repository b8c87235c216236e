// dx = A x dt + 0.1 dw, A = [[0, −θ₁²], [θ₂², 0]], in 20 Euler–Maruyama steps of 0.005: only θ₁² and θ₂² matter, so
// the posterior has four symmetric modes.

#include "catena/tasks/periodic_sde.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/periodic_sde.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::HWY_NAMESPACE {

void PeriodicSdeStep(double sign, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  const V scale = hn::Set(d, periodic_sde_noise * std::sqrt(periodic_sde_dt));
  for_lanes_with_noise<2 * periodic_sde_steps>(next.lanes, stream, [&](std::size_t l, auto noise) HWY_ATTR {
    const V theta1 = load(input.theta, 0, l), theta2 = load(input.theta, 1, l);
    const V a12 = hn::Mul(hn::Set(d, sign * periodic_sde_dt), hn::Mul(theta1, theta1));  // A₁₂ dt, A₂₁ dt
    const V a21 = hn::Mul(hn::Set(d, periodic_sde_dt), hn::Mul(theta2, theta2));
    V x = load(input.state, 0, l), y = load(input.state, 1, l);
    for (std::size_t k = 0; k < periodic_sde_steps; ++k) {
      const V x_next = hn::MulAdd(scale, noise(2 * k), hn::MulAdd(a12, y, x));
      y = hn::MulAdd(scale, noise(2 * k + 1), hn::MulAdd(a21, x, y));
      x = x_next;
    }
    store(x, next, 0, l);
    store(y, next, 1, l);
  });
}

}  // namespace catena::tasks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks {

HWY_EXPORT(PeriodicSdeStep);

namespace {
struct Stepper {
  double sign;  // of A₁₂
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    HWY_DYNAMIC_DISPATCH(PeriodicSdeStep)(sign, input, stream, next);
  }
};
}  // namespace

Task make_periodic_sde(const PeriodicSdeOptions& options) {
  check_config("periodic_sde", options);
  Task task = make_task_of("periodic_sde", options, 2, simulate::numbered_names("x", 2),
                           Stepper{options.minus_sign ? -1.0 : 1.0});
  task.initial_state = simulate::fixed_state({-0.5, 0.5});
  task.proposal = normal_proposal(2, options.proposal_sd);
  return task;
}

}  // namespace catena::tasks
#endif

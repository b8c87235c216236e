// dx = A x dt + σ dw, A = [[0, −θ₁²], [θ₂², 0]], in Euler–Maruyama steps.

#include "catena/tasks/periodic_sde/periodic_sde.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/periodic_sde/step.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/parts/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::periodic_sde::HWY_NAMESPACE {

using namespace parts::HWY_NAMESPACE;

void Step(double sign, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  constexpr Constants constants;
  constexpr auto steps = static_cast<std::size_t>(constants.steps);
  const V scale = hn::Set(d, constants.noise * std::sqrt(constants.dt));
  for_lanes_with_noise<2 * steps>(next.lanes, stream, [&](std::size_t l, auto noise) HWY_ATTR {
    const V theta1 = load(input.theta, 0, l), theta2 = load(input.theta, 1, l);
    const V a12 = hn::Mul(hn::Set(d, sign * constants.dt), hn::Mul(theta1, theta1));  // A₁₂ dt, A₂₁ dt
    const V a21 = hn::Mul(hn::Set(d, constants.dt), hn::Mul(theta2, theta2));
    V x = load(input.state, 0, l), y = load(input.state, 1, l);
    for (std::size_t k = 0; k < steps; ++k) {
      const V x_next = hn::MulAdd(scale, noise(2 * k), hn::MulAdd(a12, y, x));
      y = hn::MulAdd(scale, noise(2 * k + 1), hn::MulAdd(a21, x, y));
      x = x_next;
    }
    store(x, next, 0, l);
    store(y, next, 1, l);
  });
}

}  // namespace catena::tasks::periodic_sde::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks::periodic_sde {

HWY_EXPORT(Step);

void step(double sign, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  HWY_DYNAMIC_DISPATCH(Step)(sign, input, stream, next);
}

}  // namespace catena::tasks::periodic_sde
#endif

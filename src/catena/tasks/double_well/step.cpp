// Each of four coordinates on its own: dx = (e^(θ₁/2) x − e^(θ₂/2) x³) dt + dw, in Euler–Maruyama steps.

#include "catena/tasks/double_well/double_well.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/double_well/step.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/parts/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::double_well::HWY_NAMESPACE {

using namespace parts::HWY_NAMESPACE;

void Step(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  constexpr Constants constants;
  constexpr auto steps = static_cast<std::size_t>(constants.steps);
  const V scale = hn::Set(d, std::sqrt(constants.dt));
  const V half = hn::Set(d, 0.5), dt = hn::Set(d, constants.dt);
  for_lanes_with_noise<constants.states * steps>(next.lanes, stream, [&](std::size_t l, auto noise) HWY_ATTR {
    const V linear =
        hn::MulAdd(dt, hn::Exp(d, hn::Mul(half, load(input.theta, 0, l))), hn::Set(d, 1.0));  // 1 + e^(θ₁/2) dt
    const V cubic = hn::Mul(dt, hn::Exp(d, hn::Mul(half, load(input.theta, 1, l))));          // e^(θ₂/2) dt
    for (std::size_t i = 0; i < constants.states; ++i) {
      V x = load(input.state, i, l);
      for (std::size_t k = 0; k < steps; ++k) {
        const V slope = hn::NegMulAdd(cubic, hn::Mul(x, x), linear);
        x = hn::MulAdd(slope, x, hn::Mul(scale, noise(constants.states * k + i)));
      }
      store(x, next, i, l);
    }
  });
}

}  // namespace catena::tasks::double_well::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks::double_well {

HWY_EXPORT(Step);

void step(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  HWY_DYNAMIC_DISPATCH(Step)(input, stream, next);
}

}  // namespace catena::tasks::double_well
#endif

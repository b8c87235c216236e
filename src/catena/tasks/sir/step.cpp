// θ = (γ, β); dS = −βSI dt + σ dw₁, dI = (βSI − γI) dt + τI dw₂, dR = γI dt + σ dw₃, in Euler–Maruyama
// steps, then clipped at 0.

#include "catena/tasks/sir/sir.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/sir/step.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/parts/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::sir::HWY_NAMESPACE {

using namespace parts::HWY_NAMESPACE;

void Step(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  constexpr Constants constants;
  constexpr auto steps = static_cast<std::size_t>(constants.steps);
  const V scale = hn::Set(d, constants.noise * std::sqrt(constants.dt));
  const V infected_scale = hn::Set(d, constants.infected_noise * std::sqrt(constants.dt));
  const V dt = hn::Set(d, constants.dt);
  for_lanes_with_noise<3 * steps>(next.lanes, stream, [&](std::size_t l, auto noise) HWY_ATTR {
    const V gamma = hn::Mul(dt, load(input.theta, 0, l));  // γ dt
    const V beta = hn::Mul(dt, load(input.theta, 1, l));   // β dt
    V s = load(input.state, 0, l), i = load(input.state, 1, l), r = load(input.state, 2, l);
    for (std::size_t k = 0; k < steps; ++k) {
      const V infections = hn::Mul(beta, hn::Mul(s, i));
      const V recoveries = hn::Mul(gamma, i);
      s = hn::MulAdd(scale, noise(3 * k), hn::Sub(s, infections));
      r = hn::MulAdd(scale, noise(3 * k + 2), hn::Add(r, recoveries));
      i = hn::MulAdd(hn::Mul(infected_scale, i), noise(3 * k + 1), hn::Add(i, hn::Sub(infections, recoveries)));
    }
    store(clip_at_zero(s), next, 0, l);
    store(clip_at_zero(i), next, 1, l);
    store(clip_at_zero(r), next, 2, l);
  });
}

}  // namespace catena::tasks::sir::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks::sir {

HWY_EXPORT(Step);

void step(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  HWY_DYNAMIC_DISPATCH(Step)(input, stream, next);
}

}  // namespace catena::tasks::sir
#endif

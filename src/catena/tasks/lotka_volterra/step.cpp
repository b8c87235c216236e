// θ = (α, β, γ, δ); prey dx = (αx − βxy) dt + σxy dw₁, predators dy = (−γy + δxy) dt + σxy dw₂, in
// Euler–Maruyama steps, then clipped at 0.

#include "catena/tasks/lotka_volterra/lotka_volterra.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/lotka_volterra/step.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/parts/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::lotka_volterra::HWY_NAMESPACE {

using namespace parts::HWY_NAMESPACE;

void Step(double sigma, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  constexpr Constants constants;
  constexpr auto steps = static_cast<std::size_t>(constants.steps);
  const V scale = hn::Set(d, sigma * std::sqrt(constants.dt));
  const V dt = hn::Set(d, constants.dt);
  for_lanes_with_noise<2 * steps>(next.lanes, stream, [&](std::size_t l, auto noise) HWY_ATTR {
    const auto rate = [&](std::size_t i) HWY_ATTR { return hn::Mul(dt, load(input.theta, i, l)); };  // θ_i dt
    const V alpha = rate(0), beta = rate(1), gamma = rate(2), delta = rate(3);
    V x = load(input.state, 0, l), y = load(input.state, 1, l);
    for (std::size_t k = 0; k < steps; ++k) {
      const V xy = hn::Mul(x, y);
      const V x_noise = hn::MulSub(scale, noise(2 * k), beta);  // both multiply xy
      const V y_noise = hn::MulAdd(scale, noise(2 * k + 1), delta);
      x = hn::Add(x, hn::MulAdd(alpha, x, hn::Mul(xy, x_noise)));
      y = hn::Add(y, hn::NegMulAdd(gamma, y, hn::Mul(xy, y_noise)));
    }
    store(clip_at_zero(x), next, 0, l);
    store(clip_at_zero(y), next, 1, l);
  });
}

}  // namespace catena::tasks::lotka_volterra::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks::lotka_volterra {

HWY_EXPORT(Step);

void step(double sigma, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  HWY_DYNAMIC_DISPATCH(Step)(sigma, input, stream, next);
}

}  // namespace catena::tasks::lotka_volterra
#endif

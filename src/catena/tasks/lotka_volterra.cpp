// (α, β, γ, δ) = 1 + 2 sigmoid(θ); prey dx = (αx − βxy) dt + σxy dw₁, predators dy = (−γy + δxy) dt + σxy dw₂, in
// 5 Euler–Maruyama steps of 0.02, then clipped at 0.

#include "catena/tasks/lotka_volterra.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/lotka_volterra.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::HWY_NAMESPACE {

void LotkaVolterraStep(double sigma, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  const V scale = hn::Set(d, sigma * std::sqrt(lotka_volterra_dt));
  const V dt = hn::Set(d, lotka_volterra_dt);
  for_lanes_with_noise<2 * lotka_volterra_steps>(next.lanes, stream, [&](std::size_t l, auto noise) HWY_ATTR {
    const auto rate = [&](std::size_t i) HWY_ATTR {  // (1 + 2 sigmoid(θ_i)) dt
      return hn::Mul(dt, hn::MulAdd(hn::Set(d, 2.0), sigmoid(load(input.theta, i, l)), hn::Set(d, 1.0)));
    };
    const V alpha = rate(0), beta = rate(1), gamma = rate(2), delta = rate(3);
    V x = load(input.state, 0, l), y = load(input.state, 1, l);
    for (std::size_t k = 0; k < lotka_volterra_steps; ++k) {
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

}  // namespace catena::tasks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks {

HWY_EXPORT(LotkaVolterraStep);

namespace {
struct Stepper {
  double sigma;
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    HWY_DYNAMIC_DISPATCH(LotkaVolterraStep)(sigma, input, stream, next);
  }
};
}  // namespace

Task make_lotka_volterra(const LotkaVolterraOptions& options) {
  check_config("lotka_volterra", options);
  Task task = make_task_of("lotka_volterra", options, 4, {"prey", "predators"}, Stepper{options.sigma});
  task.initial_state = simulate::fixed_state({1, 0.5});
  task.proposal = uniform_proposal(2, 0, options.proposal_width);
  task.predictive = {{"series", 50}, {"length", 100}, {"noise", 0.2}, {"non_negative", true}};
  return task;
}

}  // namespace catena::tasks
#endif

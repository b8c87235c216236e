// (γ, β) = 2 sigmoid(θ₁, θ₂); dS = −βSI dt + 0.01 dw₁, dI = (βSI − γI) dt + 0.1 I dw₂, dR = γI dt + 0.01 dw₃, in
// 5 Euler–Maruyama steps of 0.01, then clipped at 0.

#include "catena/tasks/sir.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/sir.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::HWY_NAMESPACE {

void SirStep(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  const V scale = hn::Set(d, sir_noise * std::sqrt(sir_dt));
  const V infected_scale = hn::Set(d, sir_infected_noise * std::sqrt(sir_dt));
  const V two_dt = hn::Set(d, 2 * sir_dt);
  for_lanes_with_noise<3 * sir_steps>(next.lanes, stream, [&](std::size_t l, auto noise) HWY_ATTR {
    const V gamma = hn::Mul(two_dt, sigmoid(load(input.theta, 0, l)));  // γ dt
    const V beta = hn::Mul(two_dt, sigmoid(load(input.theta, 1, l)));   // β dt
    V s = load(input.state, 0, l), i = load(input.state, 1, l), r = load(input.state, 2, l);
    for (std::size_t k = 0; k < sir_steps; ++k) {
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

}  // namespace catena::tasks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks {

HWY_EXPORT(SirStep);

namespace {
struct Stepper {
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    HWY_DYNAMIC_DISPATCH(SirStep)(input, stream, next);
  }
};
}  // namespace

Task make_sir(const SirOptions& options) {
  check_config("sir", options);
  Task task = make_task_of("sir", options, 2, {"susceptible", "infected", "recovered"}, Stepper{});
  task.initial_state = [](Stream& stream, std::span<double> state) {
    state[0] = 2.5 + 2.5 * stream.uniform();  // S ~ U(2.5, 5)
    state[1] = 2.5 * stream.uniform();        // I ~ U(0, 2.5)
    state[2] = 0;
  };
  task.proposal = uniform_proposal(3, 0, options.proposal_width);
  task.predictive = {{"series", 100}, {"length", 50}, {"noise", 0.3}, {"non_negative", true}};
  return task;
}

}  // namespace catena::tasks
#endif

// Each of four coordinates on its own: dx = (e^(θ₁/2) x − e^(θ₂/2) x³) dt + dw, in 10 Euler–Maruyama steps of 0.005.

#include "catena/tasks/double_well.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/double_well.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::HWY_NAMESPACE {

void DoubleWellStep(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  const V scale = hn::Set(d, std::sqrt(double_well_dt));
  const V half = hn::Set(d, 0.5), dt = hn::Set(d, double_well_dt);
  for_lanes_with_noise<double_well_states * double_well_steps>(
      next.lanes, stream, [&](std::size_t l, auto noise) HWY_ATTR {
        const V linear =
            hn::MulAdd(dt, hn::Exp(d, hn::Mul(half, load(input.theta, 0, l))), hn::Set(d, 1.0));  // 1 + e^(θ₁/2) dt
        const V cubic = hn::Mul(dt, hn::Exp(d, hn::Mul(half, load(input.theta, 1, l))));          // e^(θ₂/2) dt
        for (std::size_t i = 0; i < double_well_states; ++i) {
          V x = load(input.state, i, l);
          for (std::size_t k = 0; k < double_well_steps; ++k) {
            const V slope = hn::NegMulAdd(cubic, hn::Mul(x, x), linear);
            x = hn::MulAdd(slope, x, hn::Mul(scale, noise(double_well_states * k + i)));
          }
          store(x, next, i, l);
        }
      });
}

}  // namespace catena::tasks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks {

HWY_EXPORT(DoubleWellStep);

namespace {
struct Stepper {
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    HWY_DYNAMIC_DISPATCH(DoubleWellStep)(input, stream, next);
  }
};
}  // namespace

Task make_double_well(const DoubleWellOptions& options) {
  check_config("double_well", options);
  Task task = make_task_of("double_well", options, 2, simulate::numbered_names("x", double_well_states), Stepper{});
  const double s = options.start;
  task.initial_state = simulate::fixed_state({s, -s, s, -s});
  task.proposal = uniform_proposal(double_well_states, -options.proposal_width, options.proposal_width);
  return task;
}

}  // namespace catena::tasks
#endif

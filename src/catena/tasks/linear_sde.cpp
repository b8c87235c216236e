// dx = (s M₁ − 2 I) x dt + (0.5 M₂ + 0.5 I) dw, s = 0.5, M₁ and M₂ the first and second half of θ as row-major
// matrices, in 20 Euler–Maruyama steps of 0.001.

#include "catena/tasks/linear_sde.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/linear_sde.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::HWY_NAMESPACE {

template <std::size_t n>
void linear_sde_step(double drift_scale, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  for_lanes_with_noise<n * linear_sde_steps>(next.lanes, stream, [&](std::size_t l, auto noise) HWY_ATTR {
    const V root_dt = hn::Set(d, std::sqrt(linear_sde_dt));
    V drift[n][n], diffusion[n][n], x[n];  // I + A dt, B √dt
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < n; ++c) {
        const V m1 = load(input.theta, r * n + c, l), m2 = load(input.theta, n * n + r * n + c, l);
        drift[r][c] =
            hn::MulAdd(hn::Set(d, drift_scale * linear_sde_dt), m1, hn::Set(d, r == c ? 1 - 2 * linear_sde_dt : 0.0));
        diffusion[r][c] = hn::Mul(root_dt, hn::MulAdd(hn::Set(d, 0.5), m2, hn::Set(d, r == c ? 0.5 : 0.0)));
      }
      x[r] = load(input.state, r, l);
    }
    for (std::size_t k = 0; k < linear_sde_steps; ++k) {
      V after[n];
      for (std::size_t r = 0; r < n; ++r) {
        V sum = hn::Mul(drift[r][0], x[0]);
        for (std::size_t c = 1; c < n; ++c) sum = hn::MulAdd(drift[r][c], x[c], sum);
        for (std::size_t c = 0; c < n; ++c) sum = hn::MulAdd(diffusion[r][c], noise(n * k + c), sum);
        after[r] = sum;
      }
      for (std::size_t r = 0; r < n; ++r) x[r] = after[r];
    }
    for (std::size_t r = 0; r < n; ++r) store(x[r], next, r, l);
  });
}

void LinearSdeStep(double drift_scale, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  switch (next.features) {
    case 1:
      return linear_sde_step<1>(drift_scale, input, stream, next);
    case 2:
      return linear_sde_step<2>(drift_scale, input, stream, next);
    case 3:
      return linear_sde_step<3>(drift_scale, input, stream, next);
    default:
      return linear_sde_step<4>(drift_scale, input, stream, next);
  }
}

}  // namespace catena::tasks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks {

HWY_EXPORT(LinearSdeStep);

namespace {
struct Stepper {
  double drift_scale;
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    HWY_DYNAMIC_DISPATCH(LinearSdeStep)(drift_scale, input, stream, next);
  }
};
}  // namespace

Task make_linear_sde(const LinearSdeOptions& options) {
  check_config("linear_sde", options);
  const auto dim = static_cast<std::size_t>(options.dim);
  Task task = make_task_of("linear_sde", options, 2 * dim * dim, simulate::numbered_names("x", dim),
                           Stepper{options.drift_scale});
  task.initial_state = simulate::fixed_state(std::vector<double>(dim, 0.0));
  task.proposal = normal_proposal(dim, options.proposal_sd);
  return task;
}

}  // namespace catena::tasks
#endif

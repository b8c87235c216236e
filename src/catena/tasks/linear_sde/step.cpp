// dx = (s M₁ − 2 I) x dt + (½ M₂ + ½ I) dw, M₁ and M₂ the first and second half of θ as row-major matrices, in
// Euler–Maruyama steps.

#include "catena/tasks/linear_sde/linear_sde.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/linear_sde/step.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/parts/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::linear_sde::HWY_NAMESPACE {

using namespace parts::HWY_NAMESPACE;

template <std::size_t n>
void unrolled_step(double drift_scale, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  constexpr Constants constants;
  constexpr auto steps = static_cast<std::size_t>(constants.steps);
  for_lanes_with_noise<n * steps>(next.lanes, stream, [&](std::size_t l, auto noise) HWY_ATTR {
    const V root_dt = hn::Set(d, std::sqrt(constants.dt));
    V drift[n][n], diffusion[n][n], x[n];  // I + A dt, B √dt
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < n; ++c) {
        const V m1 = load(input.theta, r * n + c, l), m2 = load(input.theta, n * n + r * n + c, l);
        drift[r][c] = hn::MulAdd(hn::Set(d, drift_scale * constants.dt), m1,
                                 hn::Set(d, r == c ? 1 - constants.drift_shift * constants.dt : 0.0));
        diffusion[r][c] = hn::Mul(root_dt, hn::MulAdd(hn::Set(d, constants.diffusion_scale), m2,
                                                      hn::Set(d, r == c ? constants.diffusion_shift : 0.0)));
      }
      x[r] = load(input.state, r, l);
    }
    for (std::size_t k = 0; k < steps; ++k) {
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

void Step(double drift_scale, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  switch (next.features) {
    case 1:
      return unrolled_step<1>(drift_scale, input, stream, next);
    case 2:
      return unrolled_step<2>(drift_scale, input, stream, next);
    case 3:
      return unrolled_step<3>(drift_scale, input, stream, next);
    default:
      return unrolled_step<4>(drift_scale, input, stream, next);
  }
}

}  // namespace catena::tasks::linear_sde::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks::linear_sde {

HWY_EXPORT(Step);

void step(double drift_scale, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  HWY_DYNAMIC_DISPATCH(Step)(drift_scale, input, stream, next);
}

}  // namespace catena::tasks::linear_sde
#endif

// x' = x + uθ + σε, ε ~ N(0, I), u = ±1 with equal chance, the same u for all coordinates.

#include "catena/tasks/mixture_rw/mixture_rw.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/mixture_rw/step.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/parts/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::mixture_rw::HWY_NAMESPACE {

using namespace parts::HWY_NAMESPACE;

void Step(double sigma, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  const V half = hn::Set(d, 0.5);
  const V scale = hn::Set(d, sigma);
  alignas(64) double coins[noise_lanes];
  for (std::size_t begin = 0; begin < next.lanes; begin += noise_lanes) {
    const std::size_t width = padded_lanes(std::min(noise_lanes, next.lanes - begin));
    stream.fill_uniform({coins, width});
    for (std::size_t i = 0; i < next.features; ++i) {
      stream.fill_normal({next.feature(i) + begin, width});
      for (std::size_t l = 0; l < width; l += hn::Lanes(d)) {
        const V theta = load(input.theta, i, begin + l);
        const V signed_theta = hn::IfThenElse(hn::Lt(hn::Load(d, coins + l), half), theta, hn::Neg(theta));
        const V drift = hn::Add(load(input.state, i, begin + l), signed_theta);
        store(hn::MulAdd(scale, load(next, i, begin + l), drift), next, i, begin + l);
      }
    }
  }
}

}  // namespace catena::tasks::mixture_rw::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks::mixture_rw {

HWY_EXPORT(Step);

void step(double sigma, const simulate::StepInput& input, Stream& stream, StateBlock next) {
  HWY_DYNAMIC_DISPATCH(Step)(sigma, input, stream, next);
}

}  // namespace catena::tasks::mixture_rw
#endif

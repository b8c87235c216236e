#include "catena/tasks/parts/gaussian_walk.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/parts/gaussian_walk.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/parts/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::parts::HWY_NAMESPACE {

void GaussianWalkStep(const simulate::StepInput& input, const double* time, Stream& stream, StateBlock next) {
  const Tag d;
  const V one = hn::Set(d, 1.0);
  const V decay = hn::Set(d, walk_coefficient);
  for (std::size_t i = 0; i < next.features; ++i) {
    stream.fill_normal({next.feature(i), next.lanes});
    for (std::size_t l = 0; l < next.lanes; l += hn::Lanes(d)) {
      const V factor = time == nullptr ? decay : hn::Add(decay, hn::Div(one, hn::Add(hn::LoadU(d, time + l), one)));
      const V drift = hn::MulAdd(factor, load(input.state, i, l), load(input.theta, i, l));
      store(hn::Add(drift, load(next, i, l)), next, i, l);
    }
  }
}

}  // namespace catena::tasks::parts::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks::parts {

HWY_EXPORT(GaussianWalkStep);

void gaussian_walk_step(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  HWY_DYNAMIC_DISPATCH(GaussianWalkStep)(input, nullptr, stream, next);
}

void timed_gaussian_walk_step(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  HWY_DYNAMIC_DISPATCH(GaussianWalkStep)(input, input.time, stream, next);
}

}  // namespace catena::tasks::parts
#endif

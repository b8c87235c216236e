// x' = (0.9 + 1/(t+1)) x + θ + ε, ε ~ N(0, I), t = 0, 1, 2, …: a transition that depends on time.

#include "catena/tasks/ti_gaussian_rw.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/ti_gaussian_rw.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::HWY_NAMESPACE {

void TiGaussianRwStep(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  const V one = hn::Set(d, 1.0);
  const V decay = hn::Set(d, 0.9);
  for (std::size_t i = 0; i < next.features; ++i) {
    stream.fill_normal({next.feature(i), next.lanes});
    for (std::size_t l = 0; l < next.lanes; l += hn::Lanes(d)) {
      const V factor = hn::Add(decay, hn::Div(one, hn::Add(hn::LoadU(d, input.time + l), one)));
      const V drift = hn::MulAdd(factor, load(input.state, i, l), load(input.theta, i, l));
      store(hn::Add(drift, load(next, i, l)), next, i, l);
    }
  }
}

}  // namespace catena::tasks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks {

HWY_EXPORT(TiGaussianRwStep);

namespace {
struct Stepper {
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    HWY_DYNAMIC_DISPATCH(TiGaussianRwStep)(input, stream, next);
  }
};
}  // namespace

Task make_ti_gaussian_rw(const TiGaussianRwOptions& options) {
  check_config("ti_gaussian_rw", options);
  const auto dim = static_cast<std::size_t>(options.dim);
  Task task = make_task_of("ti_gaussian_rw", options, dim, simulate::numbered_names("x", dim), Stepper{},
                           /*uses_time=*/true);
  task.initial_state = simulate::fixed_state(std::vector<double>(dim, 0.0));
  task.proposal = normal_proposal(dim, options.proposal_sd, static_cast<std::size_t>(options.times));
  return task;
}

}  // namespace catena::tasks
#endif

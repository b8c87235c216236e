// x' = 0.9 x + θ + ε, ε ~ N(0, I). The simplest task: its posterior is Gaussian in closed form.

#include "catena/tasks/gaussian_rw.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/gaussian_rw.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::HWY_NAMESPACE {

void GaussianRwStep(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  const Tag d;
  const V decay = hn::Set(d, 0.9);
  for (std::size_t i = 0; i < next.features; ++i) {
    stream.fill_normal({next.feature(i), next.lanes});
    for (std::size_t l = 0; l < next.lanes; l += hn::Lanes(d)) {
      const V drift = hn::MulAdd(decay, load(input.state, i, l), load(input.theta, i, l));
      store(hn::Add(drift, load(next, i, l)), next, i, l);
    }
  }
}

}  // namespace catena::tasks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks {

HWY_EXPORT(GaussianRwStep);

namespace {
struct Stepper {
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    HWY_DYNAMIC_DISPATCH(GaussianRwStep)(input, stream, next);
  }
};
}  // namespace

Task make_gaussian_rw(const GaussianRwOptions& options) {
  check_config("gaussian_rw", options);
  const auto dim = static_cast<std::size_t>(options.dim);
  Task task = make_task_of("gaussian_rw", options, dim, simulate::numbered_names("x", dim), Stepper{});
  task.initial_state = simulate::fixed_state(std::vector<double>(dim, 0.0));
  task.proposal = normal_proposal(dim, options.proposal_sd);
  return task;
}

}  // namespace catena::tasks
#endif

// x' = x + uθ + σε, ε ~ N(0, I), u = ±1 with equal chance, the same u for all coordinates: θ and −θ explain a series
// equally well.

#include "catena/tasks/mixture_rw.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/tasks/mixture_rw.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format off: after foreach_target
#include "catena/tasks/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::HWY_NAMESPACE {

void MixtureRwStep(double sigma, const simulate::StepInput& input, Stream& stream, StateBlock next) {
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

}  // namespace catena::tasks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::tasks {

HWY_EXPORT(MixtureRwStep);

namespace {
struct Stepper {
  double sigma;
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    HWY_DYNAMIC_DISPATCH(MixtureRwStep)(sigma, input, stream, next);
  }
};
}  // namespace

Task make_mixture_rw(const MixtureRwOptions& options) {
  check_config("mixture_rw", options);
  const auto dim = static_cast<std::size_t>(options.dim);
  Task task = make_task_of("mixture_rw", options, dim, simulate::numbered_names("x", dim), Stepper{options.sigma});
  task.initial_state = simulate::fixed_state(std::vector<double>(dim, 0.0));
  task.proposal = normal_proposal(dim, options.proposal_sd);
  return task;
}

}  // namespace catena::tasks
#endif

// Random-walk Metropolis: z' = z + ε L n, n ~ N(0, I) (docs/refs.bib: roberts1997).

#include <cmath>

#include "catena/sample/mcmc/kernel.h"
#include "catena/sample/mcmc/kernels/cloud_proposals.h"

namespace catena::sample {

namespace {

/// The best acceptance for a Gaussian: 0.44 in one dimension, 0.234 in many (roberts1997).
double best_acceptance(std::size_t d) { return 0.234 + 0.206 / static_cast<double>(d); }

class RandomWalk final : public Kernel {
 public:
  explicit RandomWalk(const KernelContext& context)
      : Kernel(context.dimension, context.dense, best_acceptance(context.dimension),
               best_walk_scale / std::sqrt(static_cast<double>(context.dimension))),
        proposals_(context.chains, context.dimension),
        noise_(context.dimension),
        no_correction_(context.chains, 0.0),
        scratch_(context.chains) {}

  StepInfo step(const Target& target, Chains& chains) override {
    const std::size_t n = chains.size();
    for (std::size_t c = 0; c < n; ++c) {
      chains.streams[c].fill_normal(noise_);
      const auto proposal = proposals_.row(c);
      metric().stretch(noise_, proposal);
      for (std::size_t i = 0; i < proposal.size(); ++i) proposal[i] = chains.z(c, i) + step_size() * proposal[i];
    }
    const double accepted = metropolis(target, proposals_, no_correction_, 0, scratch_, chains);
    const double rate = accepted / static_cast<double>(n);
    return {.acceptance = rate, .steered = rate};
  }

 private:
  Matrix proposals_;
  std::vector<double> noise_, no_correction_, scratch_;
};

}  // namespace

KernelEntry random_walk_kernel() {
  return {.name = "random_walk",
          .help = "random-walk Metropolis",
          .make = [](const KernelContext& context) -> std::unique_ptr<Kernel> {
            return std::make_unique<RandomWalk>(context);
          }};
}

}  // namespace catena::sample

// Proposals learned from the points of warm-up (cloud.h): random walks of random scale, differences of two points, and
// independent draws from a mixture of t distributions. They fit the target after warm-up, so there is no step size to
// adapt; where the target is close to a few Gaussians in few dimensions, one evaluation gives almost one independent
// draw. The points know the modes, since chains begin at a population that was carried there from the prior (start.h).

#include <optional>

#include "catena/sample/mcmc/kernel.h"
#include "catena/sample/mcmc/kernels/cloud_proposals.h"

namespace catena::sample {

namespace {

class Cloud final : public Kernel {
 public:
  explicit Cloud(const KernelContext& context)
      : Kernel(context.dimension, context.dense, 0.5, 1),
        points_(context.chains, context.dimension),
        log_correction_(context.chains),
        scratch_(context.chains) {}

  void learn(ConstMatrixView points) override {
    if (start_.rows() == 0) {
      start_ = joined(points, {});
      proposals_.emplace(start_, most_pieces);
    } else {
      proposals_.emplace(joined(points, start_), most_pieces);
    }
  }

  StepInfo step(const Target& target, Chains& chains) override {
    if (!proposals_) learn(chains.z);
    const std::size_t n = chains.size();
    for (std::size_t c = 0; c < n; ++c) {
      std::ranges::copy(chains.z.row(c), points_.row(c).begin());
      log_correction_[c] = proposals_->propose(points_.row(c), chains.streams[c]);
    }
    const double accepted = metropolis(target, points_, log_correction_, 0, scratch_, chains);
    // Nothing to steer: 0.5 is what is wanted.
    return {.acceptance = accepted / static_cast<double>(n), .steered = 0.5};
  }

 private:
  std::optional<CloudProposals> proposals_;
  Matrix start_;  // what was learned from first
  Matrix points_;
  std::vector<double> log_correction_, scratch_;
};

}  // namespace

KernelEntry cloud_kernel() {
  return {
      .name = "cloud",
      .help = "random walks, differences and independent draws learned from warm-up",
      .crosses_modes = true,
      .most_dimensions = 20,
      .make = [](const KernelContext& context) -> std::unique_ptr<Kernel> { return std::make_unique<Cloud>(context); }};
}

}  // namespace catena::sample

// Proposals learned from the points of warm-up (cloud.h): random walks of random scale, differences of two points, and
// independent draws from a t distribution. They fit the target after warm-up, so there is no step size to adapt; where
// the target is close to a Gaussian in few dimensions, one evaluation gives almost one independent draw.

#include <optional>

#include "catena/sample/cloud.h"
#include "catena/sample/kernel_list.h"

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
    Matrix cloud(points.rows, points.cols);
    for (std::size_t r = 0; r < points.rows; ++r) std::ranges::copy(points.row(r), cloud.row(r).begin());
    proposals_.emplace(std::move(cloud));
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
  Matrix points_;
  std::vector<double> log_correction_, scratch_;
};

}  // namespace

std::unique_ptr<Kernel> make_cloud(const KernelContext& context) { return std::make_unique<Cloud>(context); }

}  // namespace catena::sample

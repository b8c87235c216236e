// Delayed acceptance by a surrogate (Liu 2001 section 9.4.3, Christen and Fox 2005; docs/refs.bib: liu2001,
// christen2005). K leaves e^s invariant and is reversible, s a polynomial fitted to log p (surrogate.h); K^m proposes
// z', and
//
//   z' is accepted with min(1, p(z') e^s(z) / (p(z) e^s(z'))),
//
// which keeps detailed balance for p whatever s is. Steps of K cost nothing of the density, so m can be so large that
// z' hardly depends on z; the density is asked once for an almost independent draw. K is the kernel `cloud`'s choice of
// proposals, a mixture of reversible ones. Every eighth step is one of `cloud` on the density itself, so that a chain
// comes away from places where s is far too small.

#include <cmath>
#include <optional>

#include "catena/sample/mcmc/kernel.h"
#include "catena/sample/mcmc/kernels/cloud_proposals.h"
#include "catena/sample/mcmc/kernels/surrogate.h"

namespace catena::sample {

namespace {

constexpr int surrogate_steps = 12;  // m; half of them independent proposals, accepted more often than not
constexpr int plain_every = 8;

class Delayed final : public Kernel {
 public:
  explicit Delayed(const KernelContext& context)
      : Kernel(context.dimension, context.dense, 0.5, 1),
        points_(context.chains, context.dimension),
        log_correction_(context.chains),
        scratch_(context.chains),
        candidate_(context.dimension) {}

  void learn(ConstMatrixView points) override {
    cloud_ = joined(points, start_);
    if (start_.rows() == 0) start_ = cloud_;
    learned_ = true;
  }

  StepInfo step(const Target& target, Chains& chains) override {
    if (!learned_ && !surrogate_) learn(chains.z);
    if (learned_) {  // the surrogate needs the target, which learn() has not
      surrogate_.emplace(target, cloud_, usual_modes);
      proposals_.emplace(std::move(cloud_), usual_modes);
      learned_ = false;
    }
    const bool plain = ++steps_ % plain_every == 0;
    for (std::size_t c = 0; c < chains.size(); ++c) {
      std::ranges::copy(chains.z.row(c), points_.row(c).begin());
      log_correction_[c] = plain ? proposals_->propose(points_.row(c), chains.streams[c])
                                 : walk_on_surrogate(points_.row(c), chains.streams[c]);
    }
    const double accepted = metropolis(target, points_, log_correction_, 0, scratch_, chains);
    return {.acceptance = accepted / static_cast<double>(chains.size()), .steered = 0.5};
  }

 private:
  /// K^m from the point; returns s(z) − s(z').
  double walk_on_surrogate(std::span<double> point, Stream& stream) {
    const double first = (*surrogate_)(point);
    double here = first;
    for (int step = 0; step < surrogate_steps; ++step) {
      std::ranges::copy(point, candidate_.begin());
      const double log_correction = proposals_->propose(candidate_, stream);
      const double there = (*surrogate_)(candidate_);
      if (!(std::log(stream.uniform()) < there - here + log_correction)) continue;
      std::ranges::copy(candidate_, point.begin());
      here = there;
    }
    return first - here;
  }

  std::optional<CloudProposals> proposals_;
  std::optional<Surrogate> surrogate_;
  Matrix start_;  // what was learned from first
  Matrix cloud_, points_;
  bool learned_ = false;  // there is a cloud that nothing has been fitted to yet
  std::vector<double> log_correction_, scratch_, candidate_;
  int steps_ = 0;
};

}  // namespace

KernelEntry delayed_kernel() {
  return {.name = "delayed",
          .help = "what chains on a polynomial fitted to the density propose: few densities, for long series",
          .crosses_modes = true,
          .most_dimensions = 20,
          .warm_up = 16,
          .make = [](const KernelContext& context) -> std::unique_ptr<Kernel> {
            return std::make_unique<Delayed>(context);
          }};
}

}  // namespace catena::sample

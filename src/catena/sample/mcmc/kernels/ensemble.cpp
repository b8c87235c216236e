// The affine-invariant ensemble (Goodman and Weare 2010, docs/refs.bib: goodman2010). The chains are two halves; each
// half moves given the other, whose points z_j, z_k are its proposals:
//
//   stretch     z' = z_j + s (z − z_j),  s ~ 1/√s on [1/2, 2],  accepted with s^(d−1) p(z')/p(z)
//   difference  z' = z + γ (z_j − z_k) + noise (ter Braak 2006, docs/refs.bib: terbraak2006)
//
// A difference with γ = 1 leads from one mode to another that lies as z_j does from z_k.

#include <cmath>

#include "catena/sample/mcmc/kernel.h"
#include "catena/sample/mcmc/kernels/cloud_proposals.h"

namespace catena::sample {

namespace {

constexpr double largest_stretch = 2;    // goodman2010's a
constexpr double ensemble_noise = 0.02;  // in standard deviations: every point can be reached, not a lattice only

class Ensemble final : public Kernel {
 public:
  explicit Ensemble(const KernelContext& context)
      : Kernel(context.dimension, context.dense, 0.5, 1),
        proposals_(context.chains, context.dimension),
        noise_(context.dimension),
        log_correction_(context.chains),
        scratch_(context.chains) {}

  StepInfo step(const Target& target, Chains& chains) override {
    const std::size_t n = chains.size(), half = n / 2;
    double accepted = move(target, 0, half, half, n, chains);
    accepted += move(target, half, n, 0, half, chains);
    return {.acceptance = accepted / static_cast<double>(n), .steered = 0.5};
  }

 private:
  /// Chains [begin, end) given chains [other_begin, other_end).
  double move(const Target& target, std::size_t begin, std::size_t end, std::size_t other_begin, std::size_t other_end,
              Chains& chains) {
    for (std::size_t c = begin; c < end; ++c) {
      Stream& stream = chains.streams[c];
      const auto other = [&] { return chains.z.row(other_begin + stream.integer(other_end - other_begin)); };
      const auto proposal = proposals_.row(c - begin);
      log_correction_[c - begin] = stream.integer(2) == 0
                                       ? stretch(chains.z.row(c), other(), stream, proposal)
                                       : difference(chains.z.row(c), other(), other(), stream, proposal);
    }
    const MatrixView proposals = proposals_.view().slice_rows(0, end - begin);
    return metropolis(target, proposals, log_correction_, begin, scratch_, chains);
  }

  static double stretch(std::span<const double> z, std::span<const double> other, Stream& stream,
                        std::span<double> proposal) {
    const double root = 1 + (largest_stretch - 1) * stream.uniform();
    const double s = root * root / largest_stretch;
    for (std::size_t i = 0; i < z.size(); ++i) proposal[i] = other[i] + s * (z[i] - other[i]);
    return static_cast<double>(z.size() - 1) * std::log(s);
  }

  double difference(std::span<const double> z, std::span<const double> one, std::span<const double> two, Stream& stream,
                    std::span<double> proposal) {
    const double best = best_walk_scale / std::sqrt(2 * static_cast<double>(z.size()));
    const double gamma = stream.integer(2) == 0 ? 1 : best;
    stream.fill_normal(noise_);
    metric().stretch(noise_, proposal);
    for (std::size_t i = 0; i < z.size(); ++i) {
      proposal[i] = z[i] + gamma * (one[i] - two[i]) + ensemble_noise * proposal[i];
    }
    return 0;
  }

  Matrix proposals_;
  std::vector<double> noise_, log_correction_, scratch_;
};

}  // namespace

KernelEntry ensemble_kernel() {
  return {.name = "ensemble",
          .help = "affine-invariant stretches and differences between chains",
          .crosses_modes = true,
          .most_dimensions = 10,
          .least_chains = 8,
          .make = [](const KernelContext& context) -> std::unique_ptr<Kernel> {
            return std::make_unique<Ensemble>(context);
          }};
}

}  // namespace catena::sample

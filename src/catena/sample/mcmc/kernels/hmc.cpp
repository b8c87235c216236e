// Hamiltonian Monte Carlo (Neal 2011, docs/refs.bib: neal2011): new momenta, leapfrog steps, accept with
// exp(H(z, u) − H(z', u')). One step is the Metropolis-adjusted Langevin algorithm (docs/refs.bib: roberts1998).
//
// The length is that of a quarter turn in a whitened Gaussian, π/2, times a random factor that all chains share: chains
// in step fill the target's batches, and no frequency of the target can resonate with a length that changes.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "catena/sample/mcmc/kernel.h"
#include "catena/sample/mcmc/kernels/leapfrog.h"

namespace catena::sample {

namespace {

constexpr int most_steps = 256;

struct HmcLength {
  bool one_step;
  double wanted_acceptance;
};

class Hmc final : public Kernel {
 public:
  Hmc(const KernelContext& context, HmcLength length)
      // In d whitened dimensions the energy error of a step ε grows as √d ε³ … so ε ~ d^(−1/4) (d^(−1/6) for one step).
      : Kernel(context.dimension, context.dense, length.wanted_acceptance,
               1.2 * std::pow(static_cast<double>(context.dimension), length.one_step ? -1.0 / 6 : -0.25)),
        one_step_(length.one_step),
        points_(context.chains, context.dimension),
        leapfrog_(context.chains, context.dimension),
        energy_(context.chains),
        jitter_(context.streams.stream("length")) {}

  void init(const Target& target, Chains& chains) override {
    chains.log_density.resize(chains.size());
    chains.gradient = Matrix(chains.size(), chains.dimension());
    target.log_density_and_gradient(chains.z, chains.log_density, chains.gradient);
  }

  StepInfo step(const Target& target, Chains& chains) override {
    const std::size_t n = chains.size();
    points_.z = chains.z;
    points_.gradient = chains.gradient;
    points_.log_density = chains.log_density;
    moving_.clear();
    for (std::size_t c = 0; c < n; ++c) {
      chains.streams[c].fill_normal(points_.u.row(c));
      energy_[c] = points_.energy(c);
      moving_.push_back(c);
    }
    steps_.assign(n, step_size());
    for (int left = length(); left > 0 && !moving_.empty(); --left) {
      leapfrog_(target, metric(), moving_, std::span(steps_).first(moving_.size()), points_);
      std::erase_if(moving_, [&](std::size_t c) { return !(points_.energy(c) - energy_[c] < largest_energy_error); });
    }
    StepInfo info{.divergences = n - moving_.size()};
    for (const std::size_t c : moving_) {
      const double log_ratio = energy_[c] - points_.energy(c);
      info.acceptance += std::exp(std::min(0.0, log_ratio)) / static_cast<double>(n);
      if (!(std::log(chains.streams[c].uniform()) < log_ratio)) continue;
      std::ranges::copy(points_.z.row(c), chains.z.row(c).begin());
      std::ranges::copy(points_.gradient.row(c), chains.gradient.row(c).begin());
      chains.log_density[c] = points_.log_density[c];
    }
    info.steered = info.acceptance;
    return info;
  }

 private:
  int length() {
    if (one_step_) return 1;
    const double quarter_turn = 0.5 * std::numbers::pi * (0.6 + 0.8 * jitter_.uniform());
    return static_cast<int>(std::clamp(std::round(quarter_turn / step_size()), 1.0, double{most_steps}));
  }

  bool one_step_;
  PhasePoints points_;
  Leapfrog leapfrog_;
  std::vector<double> energy_, steps_;
  std::vector<std::size_t> moving_;
  Stream jitter_;
};

}  // namespace

// Acceptance: 0.574 is best for one step (roberts1998), 0.65 for long ones in high dimension; 0.8 costs little and is
// safer where the curvature changes (docs/refs.bib: betancourt2014).
KernelEntry mala_kernel() {
  return {.name = "mala",
          .help = "Metropolis-adjusted Langevin: one leapfrog step",
          .needs_gradient = true,
          .make = [](const KernelContext& context) -> std::unique_ptr<Kernel> {
            return std::make_unique<Hmc>(context, HmcLength{true, 0.574});
          }};
}

KernelEntry hmc_kernel() {
  return {.name = "hmc",
          .help = "Hamiltonian Monte Carlo with jittered length",
          .needs_gradient = true,
          .make = [](const KernelContext& context) -> std::unique_ptr<Kernel> {
            return std::make_unique<Hmc>(context, HmcLength{false, 0.8});
          }};
}

}  // namespace catena::sample

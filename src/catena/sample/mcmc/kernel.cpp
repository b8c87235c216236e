#include "catena/sample/mcmc/kernel.h"

#include <algorithm>
#include <cmath>

#include "catena/sample/mcmc/kernels/cloud_proposals.h"
#include "catena/sample/mcmc/kernels/list.h"

namespace catena::sample {

const Registry<KernelEntry>& kernels() {
  static const Registry<KernelEntry> registry(
      "kernel",
      {
          {.name = "slice",
           .help = "slice sampling along each axis of the metric, with step-out and shrinkage; the paper's",
           .handles_funnel = true,
           .make = make_slice},
          {.name = "random_walk", .help = "random-walk Metropolis", .make = make_random_walk},
          {.name = "mala",
           .help = "Metropolis-adjusted Langevin: one leapfrog step",
           .needs_gradient = true,
           .make = make_mala},
          {.name = "hmc",
           .help = "Hamiltonian Monte Carlo with jittered length",
           .needs_gradient = true,
           .make = make_hmc},
          {.name = "nuts",
           .help = "no-U-turn sampler, multinomial",
           .needs_gradient = true,
           .settings = nuts_settings(),
           .make = make_nuts},
          {.name = "ensemble",
           .help = "affine-invariant stretches and differences between chains",
           .crosses_modes = true,
           .most_dimensions = 10,
           .least_chains = 8,
           .make = make_ensemble},
          {.name = "cloud",
           .help = "random walks, differences and independent draws learned from warm-up",
           .crosses_modes = true,
           .most_dimensions = 20,
           .make = make_cloud},
          {.name = "delayed",
           .help = "what chains on a polynomial fitted to the density propose: few densities, for long series",
           .crosses_modes = true,
           .most_dimensions = 20,
           .warm_up = 16,
           .make = make_delayed},
          {.name = "tempering",
           .help = "parallel tempering from the prior to the target",
           .crosses_modes = true,
           .settings = tempering_settings(),
           .make = make_tempering},
      });
  return registry;
}

Kernel::Kernel(std::size_t dimension, bool dense, double wanted, double step)
    : dense_(dense), wanted_(wanted), metric_(dimension), step_size_(step), averaging_(wanted, step) {}

void Kernel::init(const Target& target, Chains& chains) {
  chains.log_density.resize(chains.size());
  target.log_density(chains.z, chains.log_density);
}

void Kernel::adapt(const Chains& chains, const StepInfo& info) {
  averaging_.update(info.steered);
  step_size_ = averaging_.step();
  if (++skipped_ < stride_) return;
  skipped_ = 0;
  const std::size_t n = chains.size(), capacity = std::max<std::size_t>(1, largest_cloud / n) * n;
  if (window_.rows() != capacity) window_ = Matrix(capacity, chains.dimension());
  if (remembered_ == capacity) {  // every second step is forgotten
    const std::size_t steps = capacity / n;
    for (std::size_t s = 2; s < steps; s += 2) {
      for (std::size_t c = 0; c < n; ++c) std::ranges::copy(window_.row(s * n + c), window_.row(s / 2 * n + c).begin());
    }
    remembered_ = (steps + 1) / 2 * n % capacity;
    stride_ *= 2;
  }
  for (std::size_t c = 0; c < n; ++c) std::ranges::copy(chains.z.row(c), window_.row(remembered_++).begin());
}

void Kernel::end_window() {
  if (remembered_enough()) learn(window_.view().slice_rows(0, remembered_));
  remembered_ = 0, stride_ = 1, skipped_ = 0;
  step_size_ = averaging_.average();
  averaging_ = DualAveraging(wanted_, step_size_);
}

void Kernel::learn(ConstMatrixView points) { metric_ = Metric(points, dense_); }

void Kernel::freeze() {
  step_size_ = averaging_.average();
  remembered_ = 0, stride_ = 1, skipped_ = 0;
  averaging_ = DualAveraging(wanted_, step_size_);
}

double metropolis(const Target& target, ConstMatrixView proposals, std::span<const double> log_correction,
                  std::size_t first, std::span<double> scratch, Chains& chains) {
  target.log_density(proposals, scratch);
  double accepted = 0;
  for (std::size_t i = 0; i < proposals.rows; ++i) {
    const std::size_t c = first + i;
    const double log_ratio = scratch[i] - chains.log_density[c] + log_correction[i];
    accepted += std::exp(std::min(0.0, log_ratio));
    if (!(std::log(chains.streams[c].uniform()) < log_ratio)) continue;
    std::ranges::copy(proposals.row(i), chains.z.row(c).begin());
    chains.log_density[c] = scratch[i];
  }
  return accepted;
}

}  // namespace catena::sample

#include "catena/sample/mcmc/kernel.h"

#include <algorithm>
#include <cmath>

#include "catena/sample/mcmc/kernels/cloud_proposals.h"

namespace catena::sample {

// One file each in kernels/, which says what it does and what it needs.
KernelEntry slice_kernel();
KernelEntry random_walk_kernel();
KernelEntry mala_kernel();
KernelEntry hmc_kernel();
KernelEntry nuts_kernel();
KernelEntry ensemble_kernel();
KernelEntry cloud_kernel();
KernelEntry delayed_kernel();
KernelEntry tempering_kernel();

const Registry<KernelEntry>& kernels() {
  static const Registry<KernelEntry> registry(
      "kernel", {slice_kernel(), random_walk_kernel(), mala_kernel(), hmc_kernel(), nuts_kernel(), ensemble_kernel(),
                 cloud_kernel(), delayed_kernel(), tempering_kernel()});
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

#include "catena/sample/mcmc/kernels/leapfrog.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace catena::sample {

double PhasePoints::energy(std::size_t row) const {
  const auto momentum = u.row(row);
  return 0.5 * std::inner_product(momentum.begin(), momentum.end(), momentum.begin(), 0.0) - log_density[row];
}

Leapfrog::Leapfrog(std::size_t most_rows, std::size_t dimension)
    : z_(most_rows, dimension), gradient_(most_rows, dimension), log_density_(most_rows), move_(dimension) {}

void Leapfrog::operator()(const Target& target, const Metric& metric, std::span<const std::size_t> rows,
                          std::span<const double> step, PhasePoints& points) {
  const auto kick = [&](std::size_t k) {
    metric.pull_back(points.gradient.row(rows[k]), move_);
    const auto u = points.u.row(rows[k]);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += 0.5 * step[k] * move_[i];
  };
  for (std::size_t k = 0; k < rows.size(); ++k) {
    kick(k);
    metric.stretch(points.u.row(rows[k]), move_);
    const auto z = z_.row(k);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = points.z(rows[k], i) + step[k] * move_[i];
    if (!std::ranges::all_of(z, [](double value) { return std::isfinite(value); })) {
      std::ranges::copy(points.z.row(rows[k]), z.begin());
      std::ranges::fill(points.u.row(rows[k]), std::numeric_limits<double>::infinity());  // an infinite energy
    }
  }
  target.log_density_and_gradient(z_.view().slice_rows(0, rows.size()), log_density_,
                                  gradient_.view().slice_rows(0, rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::ranges::copy(z_.row(k), points.z.row(rows[k]).begin());
    std::ranges::copy(gradient_.row(k), points.gradient.row(rows[k]).begin());
    points.log_density[rows[k]] = log_density_[k];
    kick(k);
  }
}

}  // namespace catena::sample

/// Hamiltonian dynamics for many chains at once: H(z, u) = −log p(z) + |u|²/2 with whitened momenta u (metric.h).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/sample/mcmc/kernels/mass_matrix.h"
#include "catena/sample/mcmc/target.h"

namespace catena::sample {

/// Points of phase space, one a row.
struct PhasePoints {
  PhasePoints(std::size_t rows, std::size_t dimension)
      : z(rows, dimension), u(rows, dimension), gradient(rows, dimension), log_density(rows) {}

  Matrix z, u, gradient;
  std::vector<double> log_density;

  double energy(std::size_t row) const;  ///< H
};

/// u ← u + ε/2 Lᵀ∇,  z ← z + ε L u,  u ← u + ε/2 Lᵀ∇: second order, reversible, keeps volume.
class Leapfrog {
 public:
  Leapfrog(std::size_t most_rows, std::size_t dimension);

  /// One step of each of `rows` with its own signed ε, all in one call of the target. A row that leaves the finite
  /// numbers stays at its z with log density −∞.
  void operator()(const Target& target, const Metric& metric, std::span<const std::size_t> rows,
                  std::span<const double> step, PhasePoints& points);

 private:
  Matrix z_, gradient_;
  std::vector<double> log_density_, move_;
};

/// ΔH beyond which a trajectory has diverged (Stan's bound, docs/refs.bib: betancourt2017).
inline constexpr double largest_energy_error = 1000;

}  // namespace catena::sample

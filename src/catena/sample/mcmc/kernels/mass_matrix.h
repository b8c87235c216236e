/// The shape that a kernel moves in: z-space whitened by Σ = LLᵀ, learned from the points of all chains together.
/// Momenta are kept whitened, u = Lᵀp ~ N(0, I), so that the mass matrix M = Σ⁻¹ never appears itself.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <span>

#include "catena/core/array.h"

namespace catena::sample {

class Metric {
 public:
  /// L = I.
  explicit Metric(std::size_t dimension);
  /// Σ from points, one a row, at least two. Dense: correlations are shrunk by d/(n + d), because as many points as
  /// dimensions do not determine them; otherwise the diagonal alone.
  Metric(ConstMatrixView points, bool dense);

  std::size_t dimension() const { return static_cast<std::size_t>(deviations_.size()); }

  /// out = L u: from whitened space.
  void stretch(std::span<const double> u, std::span<double> out) const;
  /// out = Lᵀ g: a gradient in whitened space.
  void pull_back(std::span<const double> gradient, std::span<double> out) const;
  /// Column `axis` of L, scaled: out = scale · L e_axis.
  void along(std::size_t axis, double scale, std::span<double> out) const;

 private:
  Eigen::VectorXd deviations_;  // the diagonal of L
  Eigen::MatrixXd lower_;       // L; empty if diagonal
};

}  // namespace catena::sample

/// Autocovariances of chains: the mean over chains (rows, of which `means` is taken off) of
///
///   γ_k = (1/n) Σ_i (x_i − x̄)(x_{i+k} − x̄).
///
/// Chains that mix need a few lags, which are summed one by one; for those that do not, all lags come from one Fourier
/// transform of each chain, Eigen's (|F x|² is the transform of the autocovariances).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "catena/core/array.h"

namespace catena::sample {

class Autocovariances {
 public:
  /// Both must outlive this.
  Autocovariances(const Matrix& chains, std::span<const double> means) : chains_(&chains), means_(means) {}

  /// γ_k for k < n.
  double operator()(std::size_t lag);

  /// What operator() does for short and for long lags.
  double summed(std::size_t lag) const;
  std::vector<double> transformed() const;

 private:
  const Matrix* chains_;
  std::span<const double> means_;
  std::vector<double> all_;  // once a long lag was asked for
};

}  // namespace catena::sample

/// What is known exactly about a task's likelihood: the reason why its reference posterior is exact.
#pragma once

#include <span>

#include "catena/core/array.h"

namespace catena::tasks {

/// log p(x^1, …, x^T | x^0, θ) = Σ_t log p(x^(t+1) | x^t, θ) in closed form or by deterministic quadrature.
/// series: (T + 1) × n, row t = x^t. Thread-safe.
class SeriesLikelihood {
 public:
  virtual ~SeriesLikelihood() = default;
  virtual double log_likelihood(std::span<const double> theta, ConstMatrixView series) const = 0;
};

}  // namespace catena::tasks

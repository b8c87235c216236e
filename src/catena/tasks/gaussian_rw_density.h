/// gaussian_rw: x' = c x + θ + ε, ε ~ N(0, I). The posterior is conjugate and known in closed form.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "catena/tasks/density.h"

namespace catena::tasks {

struct GaussianRwConstants {
  std::size_t dim = 1;
  double coefficient = 0.9;  ///< c
};

/// Over k steps, x^(t+k) = c^k x^t + (1 − c^k)/(1 − c) θ + ε, ε ~ N(0, (1 − c^2k)/(1 − c²) I); `steps` are the k from
/// each row to the next, and 1 where they are not given.
std::unique_ptr<SeriesLikelihood> gaussian_rw_likelihood(const GaussianRwConstants& constants, ConstMatrixView series,
                                                         std::span<const double> steps = {});

/// x' ~ N(c x + b θ, v I); without `now`, of N(b θ, v I).
struct LinearFactor {
  std::span<const double> next, now;
  double coefficient, gain, variance;  ///< c, b, v
};
/// A product of these, which may have their parameters each.
std::unique_ptr<SeriesLikelihood> linear_factors_likelihood(std::span<const LinearFactor> factors, std::size_t dim);

/// The same walk with a coefficient c_t of its own for each transition: x^(t+1) = c_t x^t + θ + ε.
std::unique_ptr<SeriesLikelihood> gaussian_walk_likelihood(const std::vector<double>& coefficients,
                                                           ConstMatrixView series);

}  // namespace catena::tasks

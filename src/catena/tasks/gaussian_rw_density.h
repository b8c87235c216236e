/// gaussian_rw: x' = c x + θ + ε, ε ~ N(0, I). The posterior is conjugate and known in closed form.
#pragma once

#include <memory>
#include <vector>

#include "catena/tasks/density.h"

namespace catena::tasks {

struct GaussianRwConstants {
  std::size_t dim = 1;
  double coefficient = 0.9;  ///< c
};

std::unique_ptr<SeriesLikelihood> gaussian_rw_likelihood(const GaussianRwConstants& constants, ConstMatrixView series);

/// The same walk with a coefficient c_t of its own for each transition: x^(t+1) = c_t x^t + θ + ε.
std::unique_ptr<SeriesLikelihood> gaussian_walk_likelihood(const std::vector<double>& coefficients,
                                                           ConstMatrixView series);

}  // namespace catena::tasks

/// ti_gaussian_rw: x^(t+1) = (c + 1/(t+1)) x^t + θ + ε, t = 0, 1, 2, …, ε ~ N(0, I). Conjugate, as gaussian_rw is.
#pragma once

#include <memory>

#include "catena/tasks/density.h"

namespace catena::tasks {

struct TiGaussianRwConstants {
  std::size_t dim = 1;
  double coefficient = 0.9;  ///< c
};

/// The first row of the series is the state at t = `first_time`.
std::unique_ptr<SeriesLikelihood> ti_gaussian_rw_likelihood(const TiGaussianRwConstants& constants,
                                                            ConstMatrixView series, double first_time = 0);

}  // namespace catena::tasks

/// stationary_ar1: gaussian_rw with x⁰ ~ N(θ/(1−c), I/(1−c²)), which says as much as (1+c)/(1−c) transitions.
/// Conjugate.
#pragma once

#include <memory>

#include "catena/tasks/density.h"

namespace catena::tasks {

struct StationaryAr1Constants {
  std::size_t dim = 1;
  double coefficient = 0.9;  ///< c
};

/// The first row of the series is x⁰; it counts as the first of T + 1 factors unless `from_start` is false.
std::unique_ptr<SeriesLikelihood> stationary_ar1_likelihood(const StationaryAr1Constants& constants,
                                                            ConstMatrixView series, bool from_start = true);

}  // namespace catena::tasks

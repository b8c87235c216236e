/// ar: x^(t+1) | x^t, …, x^(t−m+1) ~ N(s θ·w_t, 1) with w_t = (x^t, …, x^(t−m+1)): a linear regression, whose posterior
/// is conjugate: precision I + s² Σ_t w_t w_tᵀ.
#pragma once

#include <memory>

#include "catena/tasks/density.h"

namespace catena::tasks {

/// `series` has the first m states and at least one more.
std::unique_ptr<SeriesLikelihood> ar_likelihood(std::size_t order, double scale, ConstMatrixView series);

}  // namespace catena::tasks

/// Transitions that are normal with a mean linear in θ: with the prior N(0, I) the posterior is conjugate and known in
/// closed form. Shared by gaussian_rw, ti_gaussian_rw and stationary_ar1.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "catena/tasks/likelihood.h"

namespace catena::tasks::exact {

/// x' ~ N(c x + b θ, v I); without `now`, N(b θ, v I).
struct NormalFactor {
  std::span<const double> next, now;
  double coefficient, gain = 1, variance = 1;  ///< c, b, v
};

/// A product of these, which may have their own c, b and v each.
std::unique_ptr<SeriesLikelihood> conjugate_normal_likelihood(std::span<const NormalFactor> factors, std::size_t dim);

}  // namespace catena::tasks::exact

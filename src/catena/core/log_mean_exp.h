#pragma once

#include <cmath>
#include <limits>
#include <span>

namespace catena {

/// log (1/n) Σ_i e^(x_i) of values that are not empty, without overflow; what is no number counts as −∞, as does the
/// mean of nothing else.
inline double log_mean_exp(std::span<const double> values) {
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  double largest = nothing;
  for (const double value : values) largest = value > largest ? value : largest;
  if (!std::isfinite(largest)) return largest;
  double sum = 0;
  for (const double value : values) sum += std::isnan(value) ? 0 : std::exp(value - largest);
  return largest + std::log(sum / static_cast<double>(values.size()));
}

}  // namespace catena

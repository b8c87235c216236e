#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace catena {

/// The value at quantile q of a sample that is not empty, linear between order statistics x_(0) ≤ … ≤ x_(n−1):
///
///   x_(⌊p⌋) + (p − ⌊p⌋) (x_(⌊p⌋+1) − x_(⌊p⌋)),   p = q (n − 1).
///
/// The values are reordered; sorted ones stay as they are.
inline double quantile(std::span<double> values, double q) {
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::ranges::nth_element(values, at);
  if (below + 1 == values.size()) return *at;
  return std::lerp(*at, *std::ranges::min_element(at + 1, values.end()), position - static_cast<double>(below));
}

/// The standard deviation of a normal law with the sample's quartiles: (x_¾ − x_¼) / 1.349, unmoved by wild values.
inline double deviation_of_quartiles(std::span<double> values) {
  constexpr double of_normal = 1.3489795003921634;  // the quartiles' distance, in standard deviations
  const double upper = quantile(values, 0.75);
  return (upper - quantile(values, 0.25)) / of_normal;
}

}  // namespace catena

/// Monotone rational-quadratic splines (Durkan et al. 2019, docs/refs.bib: durkan2019): K bins on [−B, B], the identity
/// outside. In the bin that begins at (x, y) with width w, height h and slopes d₀, d₁ at its ends, with s = h/w and
/// ξ = (v − x)/w,
///
///   f(v) = y + h (s ξ² + d₀ ξ(1−ξ))/D,   f'(v) = s² (d₁ ξ² + 2 s ξ(1−ξ) + d₀ (1−ξ)²)/D²,
///   D = s + (d₀ + d₁ − 2s) ξ(1−ξ).
///
/// A network's 3K − 1 outputs are logarithms of the widths' and heights' shares and the raw inner slopes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace catena::nn::spline {

constexpr std::size_t parameter_count(std::size_t bins) { return 3 * bins - 1; }

inline constexpr double least_share = 1e-3;  // of a bin's width and height: keeps slopes finite
inline constexpr double least_slope = 1e-3;
/// A raw slope of 0 is a slope of 1: softplus(offset) = 1 − least_slope.
inline const double slope_offset = std::log(std::expm1(1 - least_slope));

template <class T>
struct Bin {
  T x, w, y, h, d0, d1;
};

/// f(v) and log f'(v).
template <class T>
std::pair<T, T> evaluate(const Bin<T>& bin, const T& v) {
  using std::log;
  const T s = bin.h / bin.w, xi = (v - bin.x) / bin.w, rest = T(1) - xi, both = xi * rest;
  const T denominator = s + (bin.d0 + bin.d1 - T(2) * s) * both;
  const T value = bin.y + bin.h * (s * xi * xi + bin.d0 * both) / denominator;
  const T slope = bin.d1 * xi * xi + T(2) * s * both + bin.d0 * rest * rest;
  return {value, T(2) * log(s) + log(slope) - T(2) * log(denominator)};
}

/// The knots that raw parameters describe, on [−B, B].
template <class T>
struct Knots {
  std::vector<T> x, y, slope;  // K + 1 each
};

template <class T, class Get>
Knots<T> knots(std::size_t bins, double bound, const Get& parameter) {
  using std::exp;
  using std::log;
  Knots<T> result;
  const auto cumulate = [&](std::size_t first, std::vector<T>& at) {
    std::vector<T> share(bins);
    T total(0);
    for (std::size_t k = 0; k < bins; ++k) total = total + (share[k] = exp(parameter(first + k)));
    at.push_back(T(-bound));
    const double spread = 1 - least_share * static_cast<double>(bins);
    for (std::size_t k = 0; k < bins; ++k) {
      at.push_back(at.back() + T(2 * bound) * (T(least_share) + T(spread) * share[k] / total));
    }
  };
  cumulate(0, result.x);
  cumulate(bins, result.y);
  result.slope.push_back(T(1));
  for (std::size_t k = 0; k + 1 < bins; ++k) {
    result.slope.push_back(T(least_slope) + log(T(1) + exp(parameter(2 * bins + k) + T(slope_offset))));
  }
  result.slope.push_back(T(1));
  return result;
}

template <class T>
Bin<T> bin(const Knots<T>& knots, std::size_t k) {
  return {knots.x[k],     knots.x[k + 1] - knots.x[k], knots.y[k], knots.y[k + 1] - knots.y[k],
          knots.slope[k], knots.slope[k + 1]};
}

/// The bin of a value within [first, last] of ascending knots.
template <class T, class Less>
std::size_t find_bin(const std::vector<T>& knots, const Less& below) {
  std::size_t k = 0;
  while (k + 2 < knots.size() && !below(knots[k + 1])) ++k;
  return k;
}

/// v with f(v) = u, by the root of a quadratic equation that lies in the bin.
double invert(const Knots<double>& knots, double bound, double u);

}  // namespace catena::nn::spline

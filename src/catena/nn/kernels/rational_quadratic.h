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
#include <memory>
#include <span>
#include <utility>

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

/// Knots on [−B, B], K + 1 of each, in memory that somebody else owns.
template <class T>
struct KnotsView {
  std::span<T> x, y, slope;

  /// In memory of knot_count(bins).
  KnotsView(std::size_t bins, T* memory)
      : x(memory, bins + 1), y(memory + bins + 1, bins + 1), slope(memory + 2 * (bins + 1), bins + 1) {}
};

constexpr std::size_t knot_count(std::size_t bins) { return 3 * (bins + 1); }

/// Writes the knots that raw parameters describe.
template <class T, class Get>
void fill_knots(double bound, const Get& parameter, const KnotsView<T>& knots) {
  using std::exp;
  using std::log;
  const std::size_t bins = knots.x.size() - 1;
  const double spread = 1 - least_share * static_cast<double>(bins);
  const auto cumulate = [&](std::size_t first, std::span<T> at) {
    T total(0);
    for (std::size_t k = 0; k < bins; ++k) total = total + (at[k + 1] = exp(parameter(first + k)));
    at[0] = T(-bound);
    for (std::size_t k = 0; k < bins; ++k) {
      at[k + 1] = at[k] + T(2 * bound) * (T(least_share) + T(spread) * at[k + 1] / total);
    }
  };
  cumulate(0, knots.x);
  cumulate(bins, knots.y);
  knots.slope[0] = T(1);
  for (std::size_t k = 0; k + 1 < bins; ++k) {
    knots.slope[k + 1] = T(least_slope) + log(T(1) + exp(parameter(2 * bins + k) + T(slope_offset)));
  }
  knots.slope[bins] = T(1);
}

/// Knots with memory of their own, for callers outside networks.
template <class T>
class Knots : public KnotsView<T> {
 public:
  explicit Knots(std::size_t bins) : Knots(bins, std::make_unique<T[]>(knot_count(bins))) {}

 private:
  Knots(std::size_t bins, std::unique_ptr<T[]> memory) : KnotsView<T>(bins, memory.get()), memory_(std::move(memory)) {}
  std::unique_ptr<T[]> memory_;
};

template <class T, class Get>
Knots<T> knots(std::size_t bins, double bound, const Get& parameter) {
  Knots<T> result(bins);
  fill_knots<T>(bound, parameter, result);
  return result;
}

template <class T>
Bin<T> bin(const KnotsView<T>& knots, std::size_t k) {
  return {knots.x[k],     knots.x[k + 1] - knots.x[k], knots.y[k], knots.y[k + 1] - knots.y[k],
          knots.slope[k], knots.slope[k + 1]};
}

/// The bin of a value within [first, last] of ascending knots.
template <class T, class Less>
std::size_t find_bin(std::span<T> knots, const Less& below) {
  std::size_t k = 0;
  while (k + 2 < knots.size() && !below(knots[k + 1])) ++k;
  return k;
}

/// v with f(v) = u, by the root of a quadratic equation that lies in the bin.
double invert(const KnotsView<double>& knots, double bound, double u);

}  // namespace catena::nn::spline

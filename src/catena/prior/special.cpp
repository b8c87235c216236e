// Boost.Math's functions (libboost-math-dev; Boost Software Licence) behind pairs of tails: each tail is asked for by
// itself, from the side on which its argument is small, so that neither is a difference from 1. The normal's tail is
// the C library's erfc.

#include "catena/prior/special.h"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace catena::prior {

namespace {

namespace bm = boost::math;
namespace bmp = boost::math::policies;

/// Never an exception: what overflows is infinite, what has no answer NaN. Inside, Boost computes in long doubles (its
/// default, named here because it is needed): in doubles it loses half of the digits where a tail is near 1e-300.
using Quiet = bmp::policy<bmp::domain_error<bmp::ignore_error>, bmp::pole_error<bmp::ignore_error>,
                          bmp::overflow_error<bmp::ignore_error>, bmp::evaluation_error<bmp::ignore_error>,
                          bmp::rounding_error<bmp::ignore_error>, bmp::promote_double<true>>;
constexpr Quiet quiet{};

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double smallest_normal = std::numeric_limits<double>::min();
constexpr double log_tiny = -46;  // e^-46 = 1e-20: 1 plus so much is 1
constexpr double half_log_two_pi = 0.91893853320467274178;

/// erfc(x/√2)/2, with 1/√2 in two parts: the rounding of x/√2 alone would cost x² units in the last place.
double half_erfc_over_root2(double x) {
  constexpr double high = 0.70710678118654757, low = -4.8336466567264573e-17;  // 1/√2 = high + low
  const double scaled = x * high;
  const double error = std::fma(x, high, -scaled) + x * low;
  return 0.5 * std::erfc(scaled) - std::numbers::inv_sqrtpi * std::exp(-scaled * scaled) * error;
}

}  // namespace

double normal_log_density(double z) { return -0.5 * z * z - half_log_two_pi; }

double normal_lower(double z) { return half_erfc_over_root2(-z); }

Tails normal_tails(double z) {
  z = std::clamp(z, -largest_z, largest_z);
  return {normal_lower(z), normal_lower(-z)};
}

double normal_from_tails(Tails tails) {
  const double p = std::min(tails.lower, tails.upper);
  const double z = p > 0 ? std::numbers::sqrt2 * bm::erfc_inv(2 * p, quiet) : infinite;
  return tails.lower < tails.upper ? -z : z;
}

Tails normal_folded(double z) {
  z = std::min(std::abs(z), largest_z);
  return {std::erf(z * std::numbers::sqrt2 / 2), 2 * normal_lower(-z)};
}

double normal_from_folded(Tails folded) {
  if (folded.lower < 0.5) return std::numbers::sqrt2 * bm::erf_inv(folded.lower, quiet);
  return -normal_from_tails({folded.upper / 2, 1 - folded.upper / 2});
}

double normal_mass(double start, double length) {
  const double end = start + length;
  if (std::isinf(length)) return std::isinf(start) ? 1.0 : normal_lower(-start);
  if (end <= 0) return normal_mass(-end, length);
  if (start < 0) {
    return std::isinf(start)
               ? normal_lower(end)
               : 0.5 * (std::erf(end * std::numbers::sqrt2 / 2) + std::erf(-start * std::numbers::sqrt2 / 2));
  }
  if (length * (start + 1) > 1) return normal_lower(-start) - normal_lower(-end);
  // The difference would cancel. φ(a) ∫_0^h e^(−at − t²/2) dt, whose exponent stays within (−1.5, 0]: 15 points of
  // Gauss and Legendre integrate such a function to the last place.
  const auto ratio = [start](double t) { return std::exp(-t * (start + 0.5 * t)); };
  return std::exp(normal_log_density(start)) * bm::quadrature::gauss<double, 15>::integrate(ratio, 0.0, length);
}

double normal_length_of_mass(double start, double mass) {
  // A first guess from the quantile itself, or (where that cancels) from a constant density; then Newton's method on
  // the logarithm of the mass, in the logarithm of the length.
  const double upper = normal_lower(-start) - mass;
  const double above = upper > 0 ? normal_from_tails({normal_lower(start) + mass, upper}) - start : 1;
  const double flat = mass / std::exp(normal_log_density(start));
  const double guess = above > 1e-3 && std::isfinite(above) ? above : std::min(flat, 1.0);
  const auto gap = [&](double log_length) {
    const double length = std::exp(log_length), found = normal_mass(start, length);
    return std::pair(std::log(found / mass), length * std::exp(normal_log_density(start + length)) / found);
  };
  const double low = std::log(smallest_normal), high = std::log(2 * largest_z + std::abs(start));
  std::uintmax_t iterations = 200;
  return std::exp(bm::tools::newton_raphson_iterate(gap, std::clamp(std::log(guess), low, high), low, high,
                                                    std::numeric_limits<double>::digits, iterations));
}

Tails gamma_tails(double shape, double x) {
  if (!(x > 0)) return {0, 1};
  if (std::isinf(x)) return {1, 0};
  return {bm::gamma_p(shape, x, quiet), bm::gamma_q(shape, x, quiet)};
}

double gamma_log_density(double shape, double x) {
  if (!(x > 0)) return -infinite;
  const double density = bm::gamma_p_derivative(shape, x, quiet);
  if (density > smallest_normal && std::isfinite(density)) return std::log(density);
  return (shape - 1) * std::log(x) - x - bm::lgamma(shape, quiet);
}

double gamma_from_tails(double shape, Tails tails) {
  if (!(tails.upper > 0)) return infinite;
  if (!(tails.lower > 0)) return 0;
  // P = x^a/Γ(a + 1) (1 + O(x)) near 0, where Boost's root finders lose their way, and throw.
  const double log_x = (std::log(tails.lower) + bm::lgamma(shape + 1, quiet)) / shape;
  if (log_x < log_tiny) return std::max(std::exp(log_x), smallest_normal);
  return tails.lower <= tails.upper ? bm::gamma_p_inv(shape, tails.lower, quiet)
                                    : bm::gamma_q_inv(shape, tails.upper, quiet);
}

double log_gamma(double a) { return bm::lgamma(a, quiet); }
double log_gamma_half_ratio(double a) { return -std::log(bm::tgamma_delta_ratio(a, 0.5, quiet)); }

Tails beta_tails(double a, double b, UnitPoint point) {
  const auto [x, y] = point;
  if (!(x > 0)) return {0, 1};
  if (!(y > 0)) return {1, 0};
  if (x <= y) return {bm::ibeta(a, b, x, quiet), bm::ibetac(a, b, x, quiet)};
  return {bm::ibetac(b, a, y, quiet), bm::ibeta(b, a, y, quiet)};
}

double beta_log_density(double a, double b, UnitPoint point) {
  if (point.x > point.y) return beta_log_density(b, a, {point.y, point.x});
  if (!(point.x > 0)) return -infinite;
  const double density = bm::ibeta_derivative(a, b, point.x, quiet);
  if (density > smallest_normal && std::isfinite(density)) return std::log(density);
  return (a - 1) * std::log(point.x) + (b - 1) * std::log(point.y) - bm::lgamma(a, quiet) - bm::lgamma(b, quiet) +
         bm::lgamma(a + b, quiet);
}

UnitPoint beta_from_tails(double a, double b, Tails tails) {
  if (tails.lower > tails.upper) {
    const UnitPoint mirrored = beta_from_tails(b, a, {tails.upper, tails.lower});
    return {mirrored.y, mirrored.x};
  }
  if (!(tails.lower > 0)) return {0, 1};
  // P = x^a/(a B(a, b)) (1 + O((1 + b)x)) near 0, where Boost's root finders lose their way, and throw: there log P is
  // nearly a line in log x, and Newton's method on it needs a few steps.
  const double scale = a * bm::beta(a, b, quiet);  // 0 for large shapes, whose quantiles are not small
  const double log_x = scale > 0 ? (std::log(tails.lower) + std::log(scale)) / a : 0;
  if (log_x + std::log1p(b) < -2) {
    double x = std::exp(log_x);
    if (!(x > smallest_normal)) return {smallest_normal, 1};
    for (int i = 0; i < 20; ++i) {
      const double found = bm::ibeta(a, b, x, quiet);
      const double change = std::log(tails.lower / found) * found / (x * bm::ibeta_derivative(a, b, x, quiet));
      x *= std::exp(change);
      if (std::abs(change) < 2 * std::numeric_limits<double>::epsilon()) break;
    }
    return {x, 1 - x};
  }
  UnitPoint point{};
  point.x = bm::ibeta_inv(a, b, tails.lower, &point.y, quiet);
  return point;
}

}  // namespace catena::prior

// The normal distribution rests on the C library's erfc; incomplete gamma and beta functions on their power series and
// continued fractions (DLMF 8.11.4, 8.9.2, 8.17.22; docs/refs.bib: dlmf), with prefactors in the saddle-point form of
// Loader (2000; loader2000), which keeps its accuracy for large shapes. Quantiles are Newton's method on the logarithm
// of the smaller tail, inside a bracket.

#include "catena/prior/special.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "catena/core/check.h"

namespace catena::prior {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double half_log_two_pi = 0.91893853320467274178;

/// erfc(x/√2)/2, with 1/√2 in two parts: the rounding of x/√2 alone would cost x² units in the last place.
double half_erfc_over_root2(double x) {
  constexpr double high = 0.70710678118654757, low = -4.8336466567264573e-17;  // 1/√2 = high + low
  const double scaled = x * high;
  const double error = std::fma(x, high, -scaled) + x * low;
  return 0.5 * std::erfc(scaled) - std::numbers::inv_sqrtpi * std::exp(-scaled * scaled) * error;
}

/// μ − log(1 + μ) without cancellation: with r = μ/(2 + μ), log(1 + μ) = 2 (r + r³/3 + r⁵/5 + …) and μ − 2r = rμ.
double excess(double mu) {
  if (std::abs(mu) > 0.4) return mu - std::log1p(mu);
  const double r = mu / (2 + mu), r2 = r * r;
  double sum = 0, power = r2 * r;
  for (int k = 3; std::abs(power) > epsilon * 0.01 * r * mu; k += 2, power *= r2) sum += power / k;
  return r * mu - 2 * sum;
}

/// δ(a) = log Γ(a + 1) − (½ log 2πa + a log a − a), Stirling's series (DLMF 5.11.1); a ≥ 10.
double stirling_error(double a) {
  const double s = 1 / (a * a);
  // B_{2k} / (2k (2k − 1)), k = 1, 2, …; the seventh term is below 1e-15 at a = 10.
  return (1.0 / 12 + s * (-1.0 / 360 +
                          s * (1.0 / 1260 + s * (-1.0 / 1680 + s * (1.0 / 1188 + s * (-691.0 / 360360 + s / 156)))))) /
         a;
}

/// x^a e^(−x) / Γ(a + 1).
double gamma_prefactor(double a, double x) {
  if (x == 0) return 0;
  if (a < 10) return std::pow(x, a) * std::exp(-x) / std::tgamma(a + 1);
  return std::exp(-a * excess((x - a) / a) - stirling_error(a)) / std::sqrt(2 * std::numbers::pi * a);
}

constexpr int most_terms = 200000;  // of a series or continued fraction: shapes of 1e6 need some 10⁴

/// P(a, x) = x^a e^(−x)/Γ(a+1) Σ x^n / ((a+1)…(a+n))
double gamma_lower_series(double a, double x) {
  double term = 1, sum = 1;
  for (int n = 1; n < most_terms && term > sum * epsilon * 0.1; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return gamma_prefactor(a, x) * sum;
}

/// Q(a, x) = x^a e^(−x)/Γ(a) · 1/(x+1−a− 1(1−a)/(x+3−a− 2(2−a)/(x+5−a− …))), by Lentz's method.
double gamma_upper_fraction(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1 - a;
  double c = 1 / tiny, d = 1 / (b == 0 ? tiny : b), value = d;
  for (int n = 1; n < most_terms; ++n) {
    const double numerator = -n * (n - a);
    b += 2;
    d = numerator * d + b;
    c = b + numerator / c;
    if (d == 0) d = tiny;
    if (c == 0) c = tiny;
    d = 1 / d;
    const double factor = d * c;
    value *= factor;
    if (std::abs(factor - 1) <= epsilon) break;
  }
  return gamma_prefactor(a, x) * a * value;
}

/// x^a y^b / B(a, b).
double beta_prefactor(double a, double b, UnitPoint point) {
  const auto [x, y] = point;
  if (x == 0 || y == 0) return 0;
  if (a > b) return beta_prefactor(b, a, {y, x});
  if (b < 10) {  // a ≤ b
    return std::pow(x, a) * std::pow(y, b) * (std::tgamma(a + b) / (std::tgamma(a) * std::tgamma(b)));
  }
  const double log_y = x < 0.5 ? std::log1p(-x) : std::log(y);
  if (a < 10) {
    // Γ(a+b)/Γ(b) = e^(δ(a+b) − δ(b)) (1 + a/b)^(b − ½) (a+b)^a e^(−a)
    const double exponent = stirling_error(a + b) - stirling_error(b) + (b - 0.5) * std::log1p(a / b) - a + b * log_y;
    return std::pow(x * (a + b), a) * std::exp(exponent) / std::tgamma(a);
  }
  // With λ = a − (a+b)x: x(a+b)/a = 1 − λ/a and y(a+b)/b = 1 + λ/b, and the linear terms of the logarithms cancel.
  const double lambda = x <= y ? a - (a + b) * x : (a + b) * y - b;
  const double exponent =
      -a * excess(-lambda / a) - b * excess(lambda / b) + stirling_error(a + b) - stirling_error(a) - stirling_error(b);
  return std::sqrt(a / (2 * std::numbers::pi) * (b / (a + b))) * std::exp(exponent);
}

/// I_x(a, b) = x^a y^b/B(a, b) / (β₀ + α₁/(β₁ + α₂/(β₂ + …))), the even part of DLMF 8.17.22 (DiDonato and Morris 1992,
/// didonato1992), by Lentz's method. It names y, so that x near 1 costs nothing; fast for x < (a + 1)/(a + b + 2).
double beta_lower_fraction(double a, double b, UnitPoint point) {
  constexpr double tiny = 1e-300;
  const auto [x, y] = point;
  const double middle = a * y - b * x + 1;
  const auto beta_term = [&](double n) {
    return n + n * (b - n) * x / (a + 2 * n - 1) + (a + n) * (middle + n * (1 + y)) / (a + 2 * n + 1);
  };
  double value = a * middle / (a + 1);  // β₀
  if (value == 0) value = tiny;
  double c = value, d = 0;
  for (int m = 1; m < most_terms; ++m) {
    const double n = m;
    const double root = x / (a + 2 * n - 1);
    const double alpha = (a + n - 1) * (a + b + n - 1) * n * (b - n) * root * root;
    const double beta = beta_term(n);
    d = beta + alpha * d;
    c = beta + alpha / c;
    if (d == 0) d = tiny;
    if (c == 0) c = tiny;
    d = 1 / d;
    const double factor = d * c;
    value *= factor;
    if (std::abs(factor - 1) <= epsilon) break;
  }
  return beta_prefactor(a, b, point) / value;
}

/// Solves log(tail(x)/target) = 0 for x > 0 by Newton's method in log x: `tail(x)` gives the tail's probability and
/// `slope(x, tail)` d log tail / d log x, of constant sign. Falls back to the bracket's geometric middle.
template <class Tail, class Slope>
double solve_positive(double guess, double low, double high, double target, Tail tail, Slope slope) {
  double x = std::clamp(guess, low, high);
  for (int i = 0; i < 2200; ++i) {  // bisection alone would need log₂ of the bracket's exponents and 53 more
    const double probability = tail(x);
    const double gap = probability > 0 ? std::log(probability / target) : -std::numeric_limits<double>::infinity();
    const double rate = slope(x, probability);
    ((gap > 0) == (rate > 0) ? high : low) = x;
    double next = x * std::exp(std::clamp(-gap / rate, -50.0, 50.0));
    if (!(next > low && next < high)) {
      if (std::abs(gap) <= 4 * epsilon * std::abs(rate) || high <= low * (1 + 2 * epsilon)) return x;
      next = std::sqrt(low) * std::sqrt(high);
    } else if (std::abs(next - x) <= 2 * epsilon * x) {
      return next;
    }
    x = next;
  }
  return x;
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
  if (!(p > 0))
    return tails.lower < tails.upper ? -std::numeric_limits<double>::infinity()
                                     : std::numeric_limits<double>::infinity();
  // Abramowitz and Stegun 26.2.23 (error below 4.5e-4), then Halley's method, which triples the digits.
  const double t = std::sqrt(-2 * std::log(p));
  double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int i = 0; i < 3; ++i) {
    const double newton = (normal_lower(-z) - p) * std::exp(0.5 * z * z + half_log_two_pi);  // along +z
    z += newton / (1 - 0.5 * z * newton);
  }
  return tails.lower < tails.upper ? -z : z;
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
  // φ(a) ∫_0^h e^(−at − t²/2) dt by its Taylor series: c_{n+1} = −(a c_n + c_{n−1})/(n + 1).
  double before = 0, c = 1, power = length, sum = 0;
  for (int n = 0; n < 60; ++n) {
    sum += c * power / (n + 1);
    const double next = -(start * c + before) / (n + 1);
    before = c;
    c = next;
    power *= length;
    if (std::abs(power * c) + std::abs(power * before) < sum * epsilon * 0.01) break;
  }
  return std::exp(normal_log_density(start)) * sum;
}

double normal_length_of_mass(double start, double mass) {
  // A first guess from the quantile itself, or (where that cancels) from a constant density.
  const double upper = normal_lower(-start) - mass;
  const double above = upper > 0 ? normal_from_tails({normal_lower(start) + mass, upper}) - start : 1;
  const double flat = mass / std::exp(normal_log_density(start));
  const double guess = above > 1e-3 && std::isfinite(above) ? above : std::min(flat, 1.0);
  return solve_positive(
      guess, std::numeric_limits<double>::min(), 2 * largest_z + std::abs(start), mass,
      [&](double h) { return normal_mass(start, h); },
      [&](double h, double m) { return h * std::exp(normal_log_density(start + h)) / m; });
}

Tails gamma_tails(double shape, double x) {
  if (!(x > 0)) return {0, 1};
  if (std::isinf(x)) return {1, 0};
  // The fraction also serves a little below its usual range (x ≥ a + 1), where a small shape would make 1 − P cancel.
  const bool by_fraction = shape < 1 ? x > 0.3 : x > shape + 1;
  if (by_fraction) {
    const double upper = gamma_upper_fraction(shape, x);
    return {shape < 1 && x < shape + 1 ? gamma_lower_series(shape, x) : 1 - upper, upper};
  }
  const double lower = gamma_lower_series(shape, x);
  return {lower, 1 - lower};
}

double gamma_log_density(double shape, double x) {
  if (!(x > 0)) return -std::numeric_limits<double>::infinity();
  if (shape < 10) return (shape - 1) * std::log(x) - x - std::lgamma(shape);
  return -shape * excess((x - shape) / shape) - stirling_error(shape) - half_log_two_pi + 0.5 * std::log(shape) -
         std::log(x);
}

double gamma_from_tails(double shape, Tails tails) {
  const bool from_below = tails.lower <= tails.upper;
  const double target = from_below ? tails.lower : tails.upper;
  constexpr double smallest = std::numeric_limits<double>::min();
  if (!(target > 0)) return from_below ? 0 : std::numeric_limits<double>::infinity();
  // Wilson and Hilferty (1931) for the bulk, P ≈ x^a/Γ(a+1) for the lower tail.
  const double z = normal_from_tails(tails);
  const double root = 1 - 1 / (9 * shape) + z / (3 * std::sqrt(shape));
  const double small = std::exp((std::log(tails.lower) + std::lgamma(shape + 1)) / shape);
  const double guess =
      (shape < 1 && tails.lower < 0.7) || root < 0.2 || small < 0.05 * shape ? small : shape * root * root * root;
  const double density_sign = from_below ? 1 : -1;
  return solve_positive(
      std::max(guess, smallest), smallest, shape * 10 + 10 * largest_z * largest_z, target,
      [&](double x) {
        const Tails found = gamma_tails(shape, x);
        return from_below ? found.lower : found.upper;
      },
      [&](double x, double p) { return density_sign * std::max(1e-300, gamma_prefactor(shape, x) * shape / p); });
}

Tails beta_tails(double a, double b, UnitPoint point) {
  if (!(point.x > 0)) return {0, 1};
  if (!(point.y > 0)) return {1, 0};
  if (point.x < (a + 1) / (a + b + 2)) {
    const double lower = beta_lower_fraction(a, b, point);
    return {lower, 1 - lower};
  }
  const double upper = beta_lower_fraction(b, a, {point.y, point.x});
  return {1 - upper, upper};
}

double beta_log_density(double a, double b, UnitPoint point) {
  const double product = point.x * point.y;
  if (!(product > 0)) return -std::numeric_limits<double>::infinity();
  const double prefactor = beta_prefactor(a, b, point);
  if (prefactor > 0) return std::log(prefactor) - std::log(point.x) - std::log(point.y);
  return (a - 1) * std::log(point.x) + (b - 1) * std::log(point.y) + std::lgamma(a + b) - std::lgamma(a) -
         std::lgamma(b);
}

UnitPoint beta_from_tails(double a, double b, Tails tails) {
  const auto [lower, upper] = tails;
  if (lower > upper) {
    const UnitPoint mirrored = beta_from_tails(b, a, {upper, lower});
    return {mirrored.y, mirrored.x};
  }
  if (!(lower > 0)) return {0, 1};
  // Solve for x itself below one half, for the odds x/y otherwise: both are positive and both keep their small side.
  const auto from_odds = [](double odds) { return UnitPoint{odds / (1 + odds), 1 / (1 + odds)}; };
  const double log_small = (std::log(lower) + std::log(a) + std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b)) / a;
  const double mean_odds = a / b, spread = std::sqrt(1 / a + 1 / b);
  const double central = mean_odds * std::exp(std::clamp(normal_from_tails(tails) * spread, -50.0, 50.0));
  const double guess = std::min(a, b) > 2 ? central : std::exp(std::clamp(log_small, -700.0, 700.0));
  constexpr double smallest = std::numeric_limits<double>::min();
  const double odds = solve_positive(
      guess, smallest, 1 / smallest, lower, [&](double o) { return beta_tails(a, b, from_odds(o)).lower; },
      // d log P / d log odds = x y f(x) / P
      [&](double o, double p) { return std::max(1e-300, beta_prefactor(a, b, from_odds(o)) / p); });
  return from_odds(odds);
}

}  // namespace catena::prior

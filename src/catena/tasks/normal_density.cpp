#include "catena/tasks/normal_density.h"

#include <cmath>
#include <numbers>

namespace catena::tasks {

double log_normal_density(double x, double mean, double sd) {
  const double z = (x - mean) / sd;
  return -0.5 * z * z - std::log(sd) - log_sqrt_2pi;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double log_normal_cdf(double x) {
  if (x > -30) return std::log(normal_cdf(x));
  // Φ(x) = φ(x)/|x| · (1 − 1/x² + 3/x⁴ − 15/x⁶ + …): at |x| = 30 the next term is 105/30⁸ < 2e-10 of the bracket, whose
  // logarithm is compared with x²/2 ≥ 450.
  const double y = 1 / (x * x);
  return -0.5 * x * x - log_sqrt_2pi - std::log(-x) + std::log1p(-y * (1 - y * (3 - 15 * y)));
}

namespace {

/// A ratio of polynomials, coefficients from the constant term up.
template <int n>
double ratio(const double (&numerator)[n], const double (&denominator)[n], double x) {
  double top = numerator[n - 1], bottom = denominator[n - 1];
  for (int i = n - 2; i >= 0; --i) {
    top = top * x + numerator[i];
    bottom = bottom * x + denominator[i];
  }
  return top / bottom;
}

// The tables of AS 241 (PPND16): the centre |p − ½| ≤ 0.425, the tail √(−log p) ≤ 5, and beyond.
constexpr double centre_top[] = {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                 1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                 3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr double centre_bottom[] = {1.0,                      4.2313330701600911252e+1, 6.8718700749205790830e+2,
                                    5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4,
                                    2.8729085735721942674e+4, 5.2264952788528545610e+3};
constexpr double tail_top[] = {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                               3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                               2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double tail_bottom[] = {1.0,                       2.05319162663775882187e0,  1.67638483018380384940e0,
                                  6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
                                  5.47593808499534494600e-4, 1.05075007164441684324e-9};
constexpr double far_top[] = {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                              2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                              2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double far_bottom[] = {1.0,                       5.99832206555887937690e-1, 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7, 2.04426310338993978564e-15};

}  // namespace

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) return q * ratio(centre_top, centre_bottom, 0.180625 - q * q);
  const double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  const double z = r <= 5 ? ratio(tail_top, tail_bottom, r - 1.6) : ratio(far_top, far_bottom, r - 5);
  return q < 0 ? -z : z;
}

}  // namespace catena::tasks

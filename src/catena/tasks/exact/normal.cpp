#include "catena/tasks/exact/normal.h"

#include <cmath>

#include "catena/prior/special.h"

namespace catena::tasks::exact {

double log_normal_density(double x, double mean, double sd) {
  const double z = (x - mean) / sd;
  return -0.5 * z * z - std::log(sd) - log_sqrt_2pi;
}

double log_normal_cdf(double x) {
  if (x > -30) return std::log(prior::normal_lower(x));
  // Φ(x) = φ(x)/|x| · (1 − 1/x² + 3/x⁴ − 15/x⁶ + …): at |x| = 30 the next term is 105/30⁸ < 2e-10 of the bracket, whose
  // logarithm is compared with x²/2 ≥ 450.
  const double y = 1 / (x * x);
  return -0.5 * x * x - log_sqrt_2pi - std::log(-x) + std::log1p(-y * (1 - y * (3 - 15 * y)));
}

}  // namespace catena::tasks::exact

#include "catena/nn/kernels/rational_quadratic.h"

namespace catena::nn::spline {

/// f(v) = u gives a ξ² + b ξ + c = 0 with, for g = u − y and t = d₀ + d₁ − 2s,
///   a = h (s − d₀) + g t,   b = h d₀ − g t,   c = −s g,   ξ = 2c/(−b − √(b² − 4ac)).
double invert(const KnotsView<double>& knots, double bound, double u) {
  if (!(std::abs(u) < bound)) return u;
  const Bin<double> at = bin(knots, find_bin(knots.y, [&](double y) { return u < y; }));
  const double s = at.h / at.w, g = u - at.y, t = at.d0 + at.d1 - 2 * s;
  const double a = at.h * (s - at.d0) + g * t, b = at.h * at.d0 - g * t, c = -s * g;
  const double root = std::sqrt(std::max(0.0, b * b - 4 * a * c));
  return at.x + at.w * std::clamp(2 * c / (-b - root), 0.0, 1.0);
}

}  // namespace catena::nn::spline

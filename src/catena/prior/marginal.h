/// A factor of one parameter. A marginal with CDF F maps θ = F⁻¹(Φ(z)); then log |dθ/dz| = log φ(z) − log f(θ). Both
/// tails travel along (special.h), so that z = +8 is as accurate as z = −8. A family writes four scalar functions.
#pragma once

#include <cmath>
#include <limits>
#include <memory>

#include "catena/core/check.h"
#include "catena/prior/prior.h"
#include "catena/prior/special.h"

namespace catena::prior {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// Where special.h holds its accuracy in reasonable time.
inline constexpr double smallest_shape = 1e-3, largest_shape = 1e6;

class Marginal : public Factor {
 public:
  struct Interval {
    double low, high;
  };
  virtual Interval support() const = 0;
  virtual double quantile(double z) const = 0;                ///< θ
  virtual double normal_score(double theta) const = 0;        ///< z; θ is inside the support
  virtual double log_density_inside(double theta) const = 0;  ///< log f(θ); θ is inside the support
  virtual double log_slope(double z) const { return normal_log_density(z) - log_density_inside(quantile(z)); }

  std::size_t size() const final { return 1; }
  void to_theta(std::span<const double> z, std::span<double> theta) const final { theta[0] = quantile(z[0]); }
  void to_z(std::span<const double> theta, std::span<double> z, std::span<const std::string> names) const final {
    const auto [low, high] = support();
    if (!(theta[0] > low && theta[0] < high)) {
      check::fail("prior", names[0], theta[0], fmt::format("between {} and {}, both excluded", low, high));
    }
    z[0] = normal_score(theta[0]);
  }
  double log_density(std::span<const double> theta) const final {
    const auto [low, high] = support();
    return theta[0] > low && theta[0] < high ? log_density_inside(theta[0]) : -infinity;
  }
  double log_jacobian(std::span<const double> z) const final { return log_slope(z[0]); }
  void to_theta_lanes(ConstStateBlock z, StateBlock theta) const override {
    const double* from = z.feature(0);
    double* to = theta.feature(0);
    for (std::size_t l = 0; l < theta.lanes; ++l) to[l] = quantile(from[l]);
  }

 protected:
  /// Rounding must not put θ on a bound, where z would be infinite.
  static double keep_inside(double theta, double low, double high) {
    if (theta <= low) return std::nextafter(low, high);
    if (theta >= high) return std::nextafter(high, low);
    return theta;
  }
};

}  // namespace catena::prior

#include "catena/sample/mcmc/kernels/surrogate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sample/mcmc_targets.h"

namespace catena::sample::surrogate_test {
namespace {

Matrix draws_of(const KnownTarget& known, std::size_t n, std::uint64_t seed) {
  Matrix points(n, known.dimension);
  Stream stream = Streams(seed).stream("points");
  for (std::size_t r = 0; r < n; ++r) known.draw(stream, points.row(r));
  return points;
}

TEST(Monomials, AreAllUpToTheirDegreeWithTheirDerivatives) {
  const Monomials monomials(2, 3);  // 1; x, y; xx, xy, yy; xxx, xxy, xyy, yyy
  ASSERT_EQ(monomials.size(), 10U);
  const std::vector<double> u{2, -3}, expected{1, 2, -3, 4, -6, 9, 8, -12, 18, -27};
  std::vector<double> values(10);
  monomials.evaluate(u, values);
  EXPECT_EQ(values, expected);
  Eigen::MatrixXd gradients(2, 10);
  monomials.gradients(values, gradients);
  Eigen::MatrixXd exact(2, 10);
  exact << 0, 1, 0, 4, -3, 0, 12, -12, 9, 0,  //
      0, 0, 1, 0, 2, -6, 0, 4, -12, 27;
  EXPECT_EQ(gradients, exact);
}

/// log p is a polynomial of degree 4 here, so the fit is exact to rounding, from gradients as from values alone.
TEST(Surrogate, IsExactForAPolynomialOfItsDegree) {
  const auto log_density = [](double x, double y) {
    return 1.5 - x * x - 0.3 * x * y - y * y - 0.1 * x * x * y - 0.05 * y * y * y * y;
  };
  const PointTarget values(2, [&](std::span<const double> z) { return log_density(z[0], z[1]); });
  const PointTarget gradients(2, [&](std::span<const double> z, std::span<double> gradient) {
    gradient[0] = -2 * z[0] - 0.3 * z[1] - 0.2 * z[0] * z[1];
    gradient[1] = -0.3 * z[0] - 2 * z[1] - 0.1 * z[0] * z[0] - 0.2 * z[1] * z[1] * z[1];
    return log_density(z[0], z[1]);
  });
  const Matrix points = draws_of(correlated_gaussian(2, 0.3), 200, 1);
  for (const Target* target : {static_cast<const Target*>(&values), static_cast<const Target*>(&gradients)}) {
    const CountedTarget counted(*target);
    const Surrogate surrogate(counted, points, 1);
    EXPECT_LE(counted.counts().evaluations, 45U);  // 3 equations for each of 15 terms
    for (std::size_t r = 0; r < 20; ++r) {
      EXPECT_NEAR(surrogate(points.row(r)), log_density(points(r, 0), points(r, 1)), 1e-5);
    }
  }
}

TEST(Surrogate, HasOnePolynomialForEachMode) {
  const KnownTarget known = two_modes(2);
  const PointTarget target(2, known.density);
  const Matrix points = draws_of(known, 400, 2);
  const Surrogate surrogate(target, points, 8);
  EXPECT_EQ(surrogate.modes(), 2U);
  std::vector<double> exact(points.rows());
  target.log_density(points, exact);
  for (std::size_t r = 0; r < points.rows(); ++r) EXPECT_NEAR(surrogate(points.row(r)), exact[r], 1e-5);
}

TEST(Surrogate, FallsOffFarAwayWhateverThePolynomialDoes) {
  const KnownTarget known = log_gammas();
  const PointTarget target(3, known.density);
  const Surrogate surrogate(target, draws_of(known, 300, 3), 1);
  const std::vector<double> far{60, 60, -60}, farther{6000, 6000, -6000};
  EXPECT_LT(surrogate(far), -100);
  EXPECT_LT(surrogate(farther), 100 * surrogate(far));
  EXPECT_TRUE(std::isfinite(surrogate(farther)));
}

}  // namespace
}  // namespace catena::sample::surrogate_test

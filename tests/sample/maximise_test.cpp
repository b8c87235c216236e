#include "catena/sample/mcmc/start/maximise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/sample/mcmc/target.h"
#include "sample/mcmc_targets.h"

namespace catena::sample::maximise_test {
namespace {

GradientField field_of(const KnownTarget& known, bool with_values) {
  return [density = known.density, with_values](ConstMatrixView z, std::span<double> value, MatrixView gradient) {
    for (std::size_t r = 0; r < z.rows; ++r) {
      const double log_density = density(z.row(r), gradient.row(r));
      if (with_values) value[r] = log_density;
    }
  };
}

Matrix rows(std::vector<std::vector<double>> points) {
  Matrix result(points.size(), points[0].size());
  for (std::size_t r = 0; r < points.size(); ++r) std::ranges::copy(points[r], result.row(r).begin());
  return result;
}

/// A Gaussian's mode and precision are its mean and inverse covariance; Newton is exact there, up to the tolerance of a
/// hundredth of a deviation.
TEST(Maximise, FindsTheModeAndCurvatureOfACorrelatedGaussian) {
  const KnownTarget known = correlated_gaussian(2, 0.95);  // means 0.4, −0.6; deviations 1, 0.2
  for (const bool with_values : {true, false}) {
    const auto found = maximise(field_of(known, with_values), rows({{2, 2}, {-3, 0.1}}), {.scale = {1, 0.2}});
    for (const Maximum& maximum : found) {
      EXPECT_TRUE(maximum.converged);
      EXPECT_NEAR(maximum.z[0], 0.4, 0.01);
      EXPECT_NEAR(maximum.z[1], -0.6, 0.01 * 0.2);
      EXPECT_EQ(std::isnan(maximum.value), !with_values);
      const double inside = 1 - 0.95 * 0.95;
      EXPECT_NEAR(maximum.curvature(0, 0), 1 / inside, 1e-6 / inside);
      EXPECT_NEAR(maximum.curvature(0, 1), -0.95 / inside / 0.2, 1e-6 / inside / 0.2);
      EXPECT_NEAR(maximum.curvature(1, 1), 1 / inside / 0.04, 1e-6 / inside / 0.04);
    }
  }
}

/// d/dz (a z − e^z) = 0 at z = log a: far from quadratic on the left, so that steps have to be damped.
TEST(Maximise, FindsTheModeOfASkewedDensityFromFarAway) {
  for (const bool with_values : {true, false}) {
    const auto found =
        maximise(field_of(log_gammas(), with_values), rows({{-4, 4.5, -4.9}, {4, 4, 4}}), {.scale = {1, 1, 1}});
    for (const Maximum& maximum : found) {
      EXPECT_TRUE(maximum.converged) << with_values;
      EXPECT_NEAR(maximum.z[0], std::log(0.7), 0.02);
      EXPECT_NEAR(maximum.z[1], std::log(2), 0.02);
      EXPECT_NEAR(maximum.z[2], std::log(10), 0.02);
    }
  }
}

TEST(Maximise, ClimbsToTheModeOfEachStart) {
  const auto found = maximise(field_of(two_modes(3), true), rows({{1, 1, 1}, {-1, -1.3, -1}}), {.scale = {1, 1, 1}});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(found[0].z[i], 1.2, 0.01 * 0.15);
    EXPECT_NEAR(found[1].z[i], -1.2, 0.01 * 0.15);
  }
  EXPECT_NEAR(found[0].value - found[1].value, std::log(0.7 / 0.3), 1e-3);
}

/// f = z_0 + z_1 − z_1²/2 − z_0 z_1/10 grows in z_0 up to the bound, where z_1 = 1 − bound/10 is best.
TEST(Maximise, StaysWithinItsBoundsAndGoesOnAlongThem) {
  const GradientField field = [](ConstMatrixView z, std::span<double> value, MatrixView gradient) {
    for (std::size_t r = 0; r < z.rows; ++r) {
      const double x = z(r, 0), y = z(r, 1);
      value[r] = x + y - 0.5 * y * y - 0.1 * x * y;
      gradient(r, 0) = 1 - 0.1 * y;
      gradient(r, 1) = 1 - y - 0.1 * x;
    }
  };
  const Maximum found = maximise(field, rows({{0, 0}}), {.scale = {1, 1}, .bound = 3})[0];
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.z[0], 3);
  EXPECT_NEAR(found.z[1], 0.7, 0.01);
  EXPECT_TRUE(found.at_bound[0]);
  EXPECT_FALSE(found.at_bound[1]);
}

TEST(Maximise, SaysSoWhereItDoesNotComeToRest) {
  const auto found =
      maximise(field_of(log_gammas(), true), rows({{-4.9, -4.9, -4.9}}), {.scale = {0.1, 0.1, 0.1}, .most_steps = 3});
  EXPECT_FALSE(found[0].converged);
  EXPECT_EQ(found[0].steps, 3);
}

TEST(BestApart, TakesTheBestOfEachNeighbourhood) {
  const Matrix points = rows({{0}, {0.1}, {5}, {5.2}, {9}, {20}});
  const std::vector<double> values{1, 2, 7, 6, 3, std::nan("")}, scale{1};
  const Matrix best = best_apart(points, values, scale, 1, 3);
  ASSERT_EQ(best.rows(), 3U);
  EXPECT_EQ(best(0, 0), 5);
  EXPECT_EQ(best(1, 0), 9);
  EXPECT_EQ(best(2, 0), 0.1);
}

}  // namespace
}  // namespace catena::sample::maximise_test

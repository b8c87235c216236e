#include "catena/sample/mcmc/start/least_squares.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "catena/sample/mcmc/start/laplace.h"

namespace catena::sample::least_squares_test {
namespace {

/// r_t = (B_t z − y_t), 3 numbers in each of 4 terms.
struct Linear {
  Eigen::MatrixXd b = Eigen::MatrixXd(12, 2);
  Eigen::VectorXd y = Eigen::VectorXd(12);

  Linear() {
    Stream stream = Streams(1).stream("linear");
    for (double& value : b.reshaped()) value = 20 * stream.normal();
    for (double& value : y) value = 20 * stream.normal();
  }
  Residuals residuals() const {
    return {4, 3, [this](std::span<const double> z, std::size_t t, std::span<double> out) {
              const Eigen::Map<const Eigen::VectorXd> point(z.data(), 2);
              const auto first = static_cast<Eigen::Index>(3 * t);
              Eigen::Map<Eigen::VectorXd>(out.data(), 3) = b.middleRows(first, 3) * point - y.segment(first, 3);
            }};
  }
};

/// What a simulator in single precision would compute of a decay and its size, measured hundreds of times more exactly
/// than the prior knows them.
Residuals decay(double rate, double size) {
  return {5, 40, [rate, size](std::span<const double> z, std::size_t t, std::span<double> out) {
            for (std::size_t i = 0; i < out.size(); ++i) {
              const double s = 0.02 * static_cast<double>(t * out.size() + i);
              const auto at = [s](double r, double a) { return static_cast<float>(std::exp(a - std::exp(r) * s)); };
              out[i] = (static_cast<double>(at(z[0], z[1])) - at(rate, size)) / 0.005;
            }
          }};
}

Matrix one_row(double first, double second) {
  Matrix z(1, 2);
  z(0, 0) = first;
  z(0, 1) = second;
  return z;
}

}  // namespace

TEST(LeastSquares, FindsTheNormalPosteriorOfALinearModel) {
  const Linear linear;
  const Eigen::MatrixXd precision = linear.b.transpose() * linear.b + Eigen::MatrixXd::Identity(2, 2);
  const Eigen::VectorXd mean = precision.llt().solve(linear.b.transpose() * linear.y);
  const auto found = least_squares(linear.residuals(), one_row(0.9, -0.7), Parallel(1)).front();
  EXPECT_TRUE(found.converged);
  const Eigen::Vector2d off(found.z[0] - mean[0], found.z[1] - mean[1]);
  EXPECT_LT(off.dot(precision * off), 1e-2);  // a tenth of a deviation, as it says
  // Differences of a linear function are exact up to rounding: 1e-16 of 20 over a width of some 1e-2.
  EXPECT_LT((found.curvature - precision).norm(), 1e-8 * precision.norm());
  const Matrix at = one_row(found.z[0], found.z[1]);
  EXPECT_NEAR(log_densities(linear.residuals(), at, Parallel(1)).front(), found.value, 1e-9 * std::abs(found.value));
}

TEST(LeastSquares, FindsANarrowMaximumFromFarAway) {
  // The starts are hundreds of deviations away, on both sides.
  for (const double side : {-1.0, 1.0}) {
    const auto found = least_squares(decay(0.3, -0.4), one_row(0.3 + side, -0.4 - side), Parallel(1)).front();
    ASSERT_TRUE(found.converged);
    const Eigen::MatrixXd covariance = found.curvature.inverse();
    EXPECT_LT(std::sqrt(covariance(0, 0)), 5e-3);
    // The prior pulls by its curvature of 1 beside theirs; residuals are rounded to 1e-5: less than a tenth of one.
    EXPECT_NEAR(found.z[0], 0.3, 0.1 * std::sqrt(covariance(0, 0)));
    EXPECT_NEAR(found.z[1], -0.4, 0.1 * std::sqrt(covariance(1, 1)));
  }
}

TEST(LeastSquares, IsTheSameOnAnyNumberOfThreads) {
  const auto one = least_squares(decay(0.3, -0.4), one_row(0, 0), Parallel(1)).front();
  const auto five = least_squares(decay(0.3, -0.4), one_row(0, 0), Parallel(5)).front();
  EXPECT_EQ(one.z, five.z);
  EXPECT_EQ(one.curvature, five.curvature);
  EXPECT_EQ(one.steps, five.steps);
}

TEST(LeastSquares, EndsWithoutAMaximumWhereNothingIsFinite) {
  const Residuals broken{1, 1, [](std::span<const double>, std::size_t, std::span<double> out) { out[0] = NAN; }};
  EXPECT_FALSE(least_squares(broken, one_row(0, 0), Parallel(1)).front().converged);
}

TEST(LaplacePopulation, HasTheMomentsOfAGaussianAndRefusesAnotherShape) {
  const PointTarget gaussian(2, [](std::span<const double> z) {
    return -0.5 * (std::pow((z[0] - 1) / 1e-3, 2) + std::pow((z[1] + 2) / 1e-2, 2));
  });
  Maximum maximum;
  maximum.converged = true;
  maximum.z = {1, -2};
  maximum.curvature = Eigen::Vector2d(1e6, 1e4).asDiagonal();
  const auto modes = laplace_modes({maximum, maximum});
  ASSERT_EQ(modes.size(), 1U);  // the same one twice
  const auto found = laplace_population(gaussian, modes, 2000, Streams(2));
  ASSERT_TRUE(found.has_value());
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < 2000; ++i) {
    const double z = (found->points(i, 0) - 1) / 1e-3;
    mean += z / 2000, square += z * z / 2000;
    std::vector<double> density(1);
    gaussian.log_density({found->points.row(i).data(), 1, 2}, density);
    EXPECT_EQ(found->log_densities[i], density[0]);
  }
  // About two thirds of 2,000 draws are effective: 5 standard errors of each, a false alarm of 1e-6.
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(1300.0));
  EXPECT_NEAR(square, 1, 5 * std::sqrt(2 / 1300.0));
  maximum.curvature = Eigen::Vector2d(1e2, 1e0).asDiagonal();  // a hundred times too wide: one draw in 10,000 fits
  EXPECT_FALSE(laplace_population(gaussian, laplace_modes({maximum}), 2000, Streams(2)).has_value());
}

}  // namespace catena::sample::least_squares_test

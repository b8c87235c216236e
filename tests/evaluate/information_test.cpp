#include "catena/evaluate/information.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <vector>

#include "catena/core/random.h"

namespace catena::evaluate::information_test {
namespace {

/// log p_t(z) = −½ (z − μ_t)ᵀ J_t (z − μ_t): everything about the posterior of the product is known.
struct GaussianLocals {
  std::vector<Eigen::Matrix2d> precision;
  std::vector<Eigen::Vector2d> mean;
  Eigen::Matrix2d covariance;
  Matrix draws;

  GaussianLocals(std::size_t transitions, std::size_t count) : draws(count, 2) {
    Stream stream = Streams(5).stream("locals");
    Eigen::Matrix2d sum = Eigen::Matrix2d::Identity();
    Eigen::Vector2d weighted = Eigen::Vector2d::Zero();
    for (std::size_t t = 0; t < transitions; ++t) {
      const Eigen::Vector2d direction(stream.normal(), stream.normal());
      precision.emplace_back((static_cast<double>(t) + 1) * direction * direction.transpose());  // of rank one
      mean.emplace_back(stream.normal(), stream.normal());
      sum += precision.back();
      weighted += precision.back() * mean.back();
    }
    covariance = sum.inverse();
    const Eigen::Matrix2d root = covariance.llt().matrixL();
    for (std::size_t k = 0; k < count; ++k) {
      const Eigen::Vector2d z = covariance * weighted + root * Eigen::Vector2d(stream.normal(), stream.normal());
      draws(k, 0) = z(0);
      draws(k, 1) = z(1);
    }
  }

  void operator()(std::size_t t, ConstMatrixView z, MatrixView out) const {
    for (std::size_t k = 0; k < z.rows; ++k) {
      const Eigen::Vector2d g = precision[t] * (mean[t] - Eigen::Vector2d(z(k, 0), z(k, 1)));
      out(k, 0) = g(0);
      out(k, 1) = g(1);
    }
  }
};

TEST(Information, IsTheTraceOfCovarianceTimesPrecisionForGaussians) {
  constexpr std::size_t transitions = 6, n = 20000;
  const GaussianLocals locals(transitions, n);
  const Information found = information(locals.draws, transitions, std::cref(locals), Parallel(2));
  for (std::size_t t = 0; t < transitions; ++t) {
    const Eigen::Matrix2d exact = locals.covariance * locals.precision[t];
    for (Eigen::Index i = 0; i < 2; ++i) {
      // Var(z_i g_i) = Σ_ii (J Σ J)_ii + (Σ J)_ii² for Gaussians. 4.5 standard errors over 14 checks: false alarms
      // 1e-4.
      const Eigen::Matrix2d of_gradient = locals.precision[t] * locals.covariance * locals.precision[t];
      const double error =
          std::sqrt((locals.covariance(i, i) * of_gradient(i, i) + exact(i, i) * exact(i, i)) / static_cast<double>(n));
      EXPECT_NEAR(found.contribution(t, static_cast<std::size_t>(i)), exact(i, i), 4.5 * error) << t << ", " << i;
    }
    EXPECT_NEAR(found.of_transition(t), exact.trace(), 0.05);
  }
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(found.total(i), found.removed[i], 4.5 * found.error[i]);
}

TEST(Information, AddsUpToTheVarianceRemovedForASkewedPosterior) {
  // log p_t(z) = k_t z − e^z, counts with the log rate z: drawn by inverting the distribution on a grid.
  const std::vector<double> counts{0, 3, 1, 7};
  std::vector<double> grid, cumulative{0};
  for (double z = -8; z <= 8; z += 1e-3) grid.push_back(z);
  for (const double z : grid) {
    double log_density = -0.5 * z * z;
    for (const double k : counts) log_density += k * z - std::exp(z);
    cumulative.push_back(cumulative.back() + std::exp(log_density));
  }
  Stream stream = Streams(6).stream("skewed");
  Matrix draws(20000, 1);
  for (std::size_t k = 0; k < draws.rows(); ++k) {
    const double u = stream.uniform() * cumulative.back();
    const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), u) - cumulative.begin() - 1;
    draws(k, 0) = grid[static_cast<std::size_t>(at)];
  }
  const auto gradient = [&](std::size_t t, ConstMatrixView z, MatrixView out) {
    for (std::size_t k = 0; k < z.rows; ++k) out(k, 0) = counts[t] - std::exp(z(k, 0));
  };
  const Information found = information(draws, counts.size(), gradient, Parallel(1));
  EXPECT_GT(found.removed[0], 0.8);
  EXPECT_LT(found.error[0], 0.02);
  EXPECT_NEAR(found.total(0), found.removed[0], 4.5 * found.error[0]);  // false alarm: 7e-6
}

TEST(Information, ShowsDrawsThatAreNotThoseOfTheGradients) {
  const GaussianLocals locals(6, 5000);
  Matrix wide = locals.draws;
  for (double& value : wide.values()) value *= 2;
  const Information found = information(wide, 6, std::cref(locals), Parallel(1));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_GT(std::abs(found.total(i) - found.removed[i]), 10 * found.error[i]);
}

TEST(Information, DoesNotDependOnThreads) {
  const GaussianLocals locals(200, 300);
  const Information one = information(locals.draws, 200, std::cref(locals), Parallel(1));
  const Information three = information(locals.draws, 200, std::cref(locals), Parallel(3));
  EXPECT_EQ(one.contribution, three.contribution);
  EXPECT_EQ(one.error, three.error);
}

}  // namespace
}  // namespace catena::evaluate::information_test

// Priors of a second round: what they are fitted to.
#include "catena/sample/posteriors/around.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/core/errors.h"

namespace catena::sample::around_posterior_test {
namespace {

using prior::Around;
using prior::NormalMixture;
using prior::Prior;

Prior base() {
  Prior prior;
  prior.add({"a"}, prior::uniform(0, 2));
  prior.add({"b"}, prior::normal(5, 2));
  return prior;
}

Matrix draws_of(const Prior& prior, std::size_t rows, std::uint64_t seed) {
  Matrix theta(rows, prior.size());
  Stream stream = Streams(seed).stream("draws");
  std::vector<double> z(prior.size());
  for (std::size_t r = 0; r < rows; ++r) {
    stream.fill_normal(z);
    prior.to_theta(z, theta.row(r));
  }
  return theta;
}

TEST(AroundPosterior, HasTheMeanOfTheDrawsAndTheirWidthTimesWiden) {
  const Eigen::Vector2d mean(0.5, -1);
  const Eigen::Matrix2d lower{{0.3, 0}, {0.1, 0.2}};
  const Around made{base(), NormalMixture::one(mean, lower)};
  const std::size_t n = 20000;
  const Around fitted = fit_around("test", base(), draws_of(made.prior(), n, 1), 3);
  ASSERT_EQ(fitted.normals.components.size(), 1U);
  const auto& normal = fitted.normals.components[0];
  // 4.5 standard errors of means and of a Cholesky factor (no more than 1/√n of its row): 5 checks, 3e-5.
  for (Eigen::Index i = 0; i < 2; ++i) {
    const double sd = lower.row(i).norm();
    EXPECT_NEAR(normal.mean[i], mean[i], 4.5 * sd / std::sqrt(n));
    for (Eigen::Index j = 0; j <= i; ++j) {
      EXPECT_NEAR(normal.lower(i, j), 3 * lower(i, j), 4.5 * 3 * sd / std::sqrt(n));
    }
  }
}

/// Two modes stay two in a second and a third round, with their weights: 4.5 standard errors of n draws and of the n
/// that the fit saw.
TEST(AroundPosterior, KeepsBothModes) {
  const Eigen::Matrix2d lower{{0.1, 0}, {0.02, 0.1}};
  const Around made{base(), {{{0.3, Eigen::Vector2d(1, 1), lower}, {0.7, Eigen::Vector2d(-1, -1), lower}}}};
  constexpr std::size_t n = 4000;
  Prior round = made.prior();
  for (std::uint64_t seed : {1, 2}) {
    const Matrix theta = draws_of(round, n, seed);
    const Around fitted = fit_around("test", base(), theta, 1.5);
    ASSERT_EQ(fitted.normals.components.size(), 2U);
    double right = 0;
    std::vector<double> z(2);
    const Matrix second = draws_of(fitted.prior(), n, seed + 10);
    for (std::size_t r = 0; r < n; ++r) {
      base().to_z(second.row(r), z);
      right += z[0] > 0 ? 1 : 0;
    }
    EXPECT_NEAR(right / n, 0.3, 4.5 * std::sqrt(2 * static_cast<double>(seed) * 0.21 / n));
    round = fitted.prior();
  }
}

TEST(AroundPosterior, GoesBackToTheSameBaseInEveryRound) {
  const Around first = fit_around("test", base(), draws_of(base(), 500, 1), 1);
  const Around second = fit_around("test", first.prior(), draws_of(first.prior(), 500, 2), 1);
  EXPECT_EQ(second.base.to_json(), base().to_json());
}

TEST(AroundPosterior, RefusesTooFewDraws) {
  EXPECT_THROW(fit_around("test", base(), draws_of(base(), 5, 1), 1), InputError);
  EXPECT_THROW(fit_around("test", base(), draws_of(base(), 100, 1), 0), InputError);
  Matrix equal(100, 2);
  for (std::size_t r = 0; r < 100; ++r) equal(r, 0) = 1, equal(r, 1) = 5;
  EXPECT_THROW(fit_around("test", base(), equal, 2), InputError);
}

}  // namespace
}  // namespace catena::sample::around_posterior_test

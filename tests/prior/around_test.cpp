// Priors around a posterior: what they are fitted to, and that their weights lead back.
#include "catena/prior/around.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/core/errors.h"
#include "catena/prior/special.h"

namespace catena::prior::around_test {
namespace {

Prior base() {
  Prior prior;
  prior.add({"a"}, uniform(0, 2));
  prior.add({"b"}, normal(5, 2));
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

TEST(Around, HasTheMeanOfTheDrawsAndTheirWidthTimesWiden) {
  const Around made{base(), Eigen::Vector2d(0.5, -1), Eigen::Matrix2d{{0.3, 0}, {0.1, 0.2}}};
  const std::size_t n = 20000;
  const Around fitted = fit_around("test", base(), draws_of(made.prior(), n, 1), 3);
  // 4.5 standard errors of means and of a Cholesky factor (no more than 1/√n of its row): 5 checks, 3e-5.
  for (Eigen::Index i = 0; i < 2; ++i) {
    const double sd = made.lower.row(i).norm();
    EXPECT_NEAR(fitted.mean[i], made.mean[i], 4.5 * sd / std::sqrt(n));
    for (Eigen::Index j = 0; j <= i; ++j) {
      EXPECT_NEAR(fitted.lower(i, j), 3 * made.lower(i, j), 4.5 * 3 * sd / std::sqrt(n));
    }
  }
}

TEST(Around, GoesBackToTheSameBaseInEveryRound) {
  const Around first = fit_around("test", base(), draws_of(base(), 500, 1), 1);
  const Around second = fit_around("test", first.prior(), draws_of(first.prior(), 500, 2), 1);
  EXPECT_EQ(second.base.to_json(), base().to_json());
  const auto read = around_of(Prior::from_json("test", nlohmann::json::parse(second.prior().to_json().dump())));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->mean, second.mean);
  EXPECT_EQ(read->lower, second.lower);
  EXPECT_FALSE(around_of(base()).has_value());
}

TEST(Around, WeighsDrawsByTheRatioOfThePriors) {
  const Around around{base(), Eigen::Vector2d(0.5, -1), Eigen::Matrix2d{{0.3, 0}, {0.1, 0.2}}};
  for (const auto& w : {std::vector<double>{0.3, -0.4}, std::vector<double>{-2, 1}}) {
    std::vector<double> theta(2);
    around.prior().to_theta(w, theta);
    EXPECT_NEAR(around.log_weight(w), base().log_density(theta) - around.prior().log_density(theta), 1e-12);
  }
}

TEST(TruePrior, IsTheBaseOfOneAroundAPosteriorAndAnyOtherItself) {
  const Around around{base(), Eigen::Vector2d(0.5, -1), Eigen::Matrix2d{{0.3, 0}, {0.1, 0.2}}};
  const TruePrior narrowed(around.prior()), own(base());
  EXPECT_EQ(narrowed.prior().to_json(), base().to_json());
  EXPECT_EQ(own.prior().to_json(), base().to_json());
  const std::vector<double> w{0.3, -0.4};
  std::vector<double> z(2), back(2), theta(2), same(2), gradient(2, 0.0);
  narrowed.to_z(w, z);
  narrowed.to_w(z, back);
  around.prior().to_theta(w, theta);
  narrowed.prior().to_theta(z, same);
  narrowed.add_log_weight_gradient(w, gradient);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(back[i], w[i], 1e-12);
    EXPECT_NEAR(same[i], theta[i], 1e-12);
    // A quadratic function: central differences are exact but for rounding.
    std::vector<double> above = w, below = w;
    above[i] += 1e-3;
    below[i] -= 1e-3;
    EXPECT_NEAR(gradient[i], (narrowed.log_weight(above) - narrowed.log_weight(below)) / 2e-3, 1e-9);
  }
  // f(w) = w₁ + 2 w₂ as a function of z has the gradient L⁻ᵀ (1, 2).
  std::vector<double> g{1, 2};
  narrowed.gradient_to_z(g);
  EXPECT_NEAR(g[1], 2 / 0.2, 1e-12);
  EXPECT_NEAR(g[0], (1 - 0.1 * g[1]) / 0.3, 1e-12);
  EXPECT_EQ(own.log_weight(w), 0);
}

TEST(Around, RefusesTooFewDraws) {
  EXPECT_THROW(fit_around("test", base(), draws_of(base(), 5, 1), 1), InputError);
  EXPECT_THROW(fit_around("test", base(), draws_of(base(), 100, 1), 0), InputError);
}

}  // namespace
}  // namespace catena::prior::around_test

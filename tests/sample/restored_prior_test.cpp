#include "catena/sample/restored_prior.h"

#include <gtest/gtest.h>

#include <cmath>

namespace catena::sample::restored_prior_test {
namespace {

TEST(RestoredPrior, TurnsDrawsUnderTheNormalIntoDrawsUnderThePrior) {
  // One observation y = 1 of N(z, ½): under N(0, 1) the posterior of z is N(2/3, 1/3), under N(μ, s²), μ = 0.9 and
  // s = 1.2, it is N((2y + μ/s²)/(2 + 1/s²), 1/(2 + 1/s²)).
  const double mu = 0.9, s = 1.2, precision = 2 + 1 / (s * s), mean = (2 + mu / (s * s)) / precision;
  const prior::Around around{
      prior::Prior::standard({"z"}),
      prior::NormalMixture::one(Eigen::VectorXd::Constant(1, mu), Eigen::MatrixXd::Constant(1, 1, s))};
  const std::size_t n = 40000;
  Matrix w(n, 1);
  Stream stream = Streams(1).stream("draws");
  for (std::size_t k = 0; k < n; ++k) w(k, 0) = (mean + stream.normal() / std::sqrt(precision) - mu) / s;
  const RestoredDraws restored = restore_prior(around, w, n / 2, Streams(1).stream("prior"));
  EXPECT_LT(restored.ess, n);
  EXPECT_GT(restored.ess, 0.5 * n);
  const double half = 0.5 * static_cast<double>(n);
  double sum = 0, squares = 0;
  for (std::size_t k = 0; k < n / 2; ++k) {
    sum += restored.z(k, 0) / half;
    squares += (restored.z(k, 0) - 2.0 / 3) * (restored.z(k, 0) - 2.0 / 3) / half;
  }
  // Resampling adds less than the draws' own error, which is that of their effective number: 4.5 errors of both, 1e-5.
  const double error = 4.5 * std::sqrt(1 / restored.ess + 2.0 / n);
  EXPECT_NEAR(sum, 2.0 / 3, error * std::sqrt(1.0 / 3));
  EXPECT_NEAR(squares, 1.0 / 3, error * std::sqrt(2.0) / 3);
}

TEST(RestoredPrior, LeavesOutWhatIsNotFinite) {
  const prior::Around around{prior::Prior::standard({"z"}),  // all weights are equal
                             prior::NormalMixture::one(Eigen::VectorXd::Zero(1), Eigen::MatrixXd::Ones(1, 1))};
  Matrix w(4, 1);
  w(0, 0) = w(2, 0) = std::nan("");
  w(1, 0) = 1, w(3, 0) = 3;
  const RestoredDraws restored = restore_prior(around, w, 2, Streams(1).stream("prior"));
  EXPECT_DOUBLE_EQ(restored.ess, 2);
  EXPECT_EQ(restored.z(0, 0), 1);
  EXPECT_EQ(restored.z(1, 0), 3);
  w(1, 0) = w(3, 0) = std::nan("");
  const RestoredDraws none = restore_prior(around, w, 2, Streams(1).stream("prior"));
  EXPECT_EQ(none.ess, 0);
  EXPECT_TRUE(std::isnan(none.z(1, 0)));
}

}  // namespace
}  // namespace catena::sample::restored_prior_test

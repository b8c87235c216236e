#include "catena/prior/normal_mixture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/core/random.h"
#include "catena/prior/special.h"

namespace catena::prior::normal_mixture_test {
namespace {

/// Modes that lie apart by many of their widths in both coordinates.
NormalMixture two_modes() {
  return {{{0.3, Eigen::Vector2d(1.5, -1), Eigen::Matrix2d{{0.1, 0}, {0.05, 0.2}}},
           {0.7, Eigen::Vector2d(-0.6, 1), Eigen::Matrix2d{{0.2, 0}, {-0.1, 0.1}}}}};
}

/// Shares of modes, and quantiles of the first coordinate within the first mode: 4 binomial checks at 4.5 standard
/// errors, 3e-5.
TEST(NormalMixture, MapsNormalsToItsModes) {
  const NormalMixture mixture = two_modes();
  constexpr int n = 20000;
  Stream stream = Streams(1).stream("draws");
  double right = 0, below[3] = {0, 0, 0};
  for (int k = 0; k < n; ++k) {
    std::vector<double> w(2);
    stream.fill_normal(w);
    const Eigen::VectorXd z = mixture.to_z(w);
    if (!(z[0] > 0.5)) continue;
    ++right;
    const double u = (z[0] - 1.5) / 0.1;
    for (int q = 0; q < 3; ++q) below[q] += u <= normal_from_tails({0.25 * (q + 1), 1 - 0.25 * (q + 1)}) ? 1 : 0;
    EXPECT_NEAR(z[1], -1 + 0.5 * (z[0] - 1.5), 6 * 0.2);  // the mode's own second coordinate: 1 in 5e8 draws is further
  }
  EXPECT_NEAR(right / n, 0.3, 4.5 * std::sqrt(0.21 / n));
  for (int q = 0; q < 3; ++q) {
    const double p = 0.25 * (q + 1);
    EXPECT_NEAR(below[q] / right, p, 4.5 * std::sqrt(p * (1 - p) / right));
  }
}

TEST(NormalMixture, GoesBackAndForthFarIntoTheTails) {
  const NormalMixture mixture = two_modes();
  for (const double a : {-8.0, -2.0, -0.3, 0.9, 3.0, 8.0}) {
    for (const double b : {-7.0, -1.0, 0.0, 2.0, 7.0}) {
      const std::vector<double> w{a, b};
      const Eigen::VectorXd z = mixture.to_z(w), back = mixture.to_w({z.data(), 2});
      EXPECT_NEAR(back[0], a, 1e-8);
      EXPECT_NEAR(back[1], b, 1e-8);
      // log |det ∂w/∂z| = log q(z) − log N(w; 0, I)
      const double log_normal = normal_log_density(a) + normal_log_density(b);
      EXPECT_NEAR(mixture.inverse_jacobian({z.data(), 2}).diagonal().array().log().sum(),
                  mixture.log_density({z.data(), 2}) - log_normal, 1e-6);
    }
  }
}

TEST(NormalMixture, IsAnAffineMapForOneNormal) {
  const Eigen::Vector2d mean(0.5, -1);
  const Eigen::Matrix2d lower{{0.3, 0}, {0.1, 0.2}};
  const NormalMixture one = NormalMixture::one(mean, lower);
  NormalMixture halves{{{0.5, mean, lower}, {0.5, mean, lower}}};  // the same law, by the other way
  const std::vector<double> w{1.2, -0.7};
  EXPECT_LT((one.to_z(w) - halves.to_z(w)).norm(), 1e-12);
  const Eigen::VectorXd z = one.to_z(w);
  EXPECT_LT((one.to_w({z.data(), 2}) - halves.to_w({z.data(), 2})).norm(), 1e-12);
  EXPECT_NEAR(one.log_density({z.data(), 2}), halves.log_density({z.data(), 2}), 1e-12);
  EXPECT_LT((one.gradient({z.data(), 2}) - halves.gradient({z.data(), 2})).norm(), 1e-11);
  EXPECT_LT((one.inverse_jacobian({z.data(), 2}) - halves.inverse_jacobian({z.data(), 2})).norm(), 1e-11);
}

}  // namespace
}  // namespace catena::prior::normal_mixture_test

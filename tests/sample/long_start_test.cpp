// Series of a thousand transitions, by the exact density of gaussian_rw and by sums of skewed terms.
#include "catena/sample/mcmc/start/long_start.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/sample/posterior.h"
#include "sample/mcmc_targets.h"
#include "train/exact_density.h"

namespace catena::sample::long_start_test {
namespace {

/// log N(z; 0, 1) + Σ_t log N(y_t; |z|, 1): two modes at ± the mean of the y, equal by symmetry, or unequal with a
/// pull.
class FoldedTarget final : public Target {
 public:
  FoldedTarget(std::size_t terms, double mean, double pull) : terms_(terms), mean_(mean), pull_(pull) {}
  std::size_t dimension() const override { return 1; }
  bool has_gradient() const override { return true; }
  void log_density(ConstMatrixView z, std::span<double> out) const override {
    for (std::size_t i = 0; i < z.rows; ++i) out[i] = value(z(i, 0));
  }
  void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override {
    for (std::size_t i = 0; i < z.rows; ++i) {
      const double x = z(i, 0), sign = x < 0 ? -1 : 1;
      out[i] = value(x);
      gradient(i, 0) = -x + pull_ - static_cast<double>(terms_) * sign * (std::abs(x) - mean_);
    }
  }
  std::size_t terms() const override { return terms_; }
  std::unique_ptr<Target> thinned(std::size_t terms) const override {
    return std::make_unique<FoldedTarget>(terms, mean_, pull_);
  }

 private:
  double value(double x) const {
    return -0.5 * x * x + pull_ * x - 0.5 * static_cast<double>(terms_) * (std::abs(x) - mean_) * (std::abs(x) - mean_);
  }
  std::size_t terms_;
  double mean_, pull_;
};

/// The modes of a Gaussian each, with odds e^(2 · pull · mean): 0.8 of 1,000 points within 4.5 standard errors; weights
/// are those of independent draws from the right mixture but for t tails, whose effective share is above a half.
TEST(LongStart, GivesModesTheirWeightsFromFewDensitiesOfTheWhole) {
  const double mean = 1.1, pull = std::log(4) / (2 * mean * 5000.0 / 5001.0);
  const FoldedTarget target(5000, mean, pull);
  const CountedTarget counted(target);
  const auto thinned = target.thinned(256);
  const Start start = long_start(counted, *thinned, 1000, 3, Streams(1), silent_progress());
  ASSERT_EQ(start.outcome, Outcome::ok);
  EXPECT_LT(counted.counts().evaluations, 1200U);
  double right = 0;
  for (std::size_t r = 0; r < 1000; ++r) right += start.points.back()(r, 0) > 0 ? 0.001 : 0;
  EXPECT_NEAR(right, 0.8, 4.5 * std::sqrt(0.16 / 500));
}

/// The conjugate posterior N(Σ_t (x^(t+1) − 0.9 x^t)/(T+1), I/(T+1)), by the kernel that `auto` takes for long series;
/// tolerances as for short ones (fnle_posterior_test.cpp).
TEST(LongStart, LeadsToTheConjugatePosteriorOfALongSeries) {
  const model::TrainedModel model = train::testing::exact_gaussian_rw(2);
  constexpr std::size_t n = 1000, T = 1500;
  const Matrix series = train::testing::gaussian_rw_series(2, T, 50);
  const PosteriorDraws draws =
      draw_posterior({.model = model, .series = {{series}}, .draws = n}, Streams(2), Parallel(2));
  EXPECT_EQ(draws.outcome, Outcome::ok);
  EXPECT_EQ(draws.info["kernel"], "delayed");
  EXPECT_LT(draws.info["evaluations"].get<int>(), 5000);
  EXPECT_GT(draws.info["thinned_evaluations"].get<int>(), 0);
  const double v = 1 / (static_cast<double>(T) + 1);
  for (std::size_t i = 0; i < 2; ++i) {
    double mean = 0, sum = 0, squares = 0;
    for (std::size_t t = 0; t < T; ++t) mean += v * (series(t + 1, i) - 0.9 * series(t, i));
    for (std::size_t k = 0; k < n; ++k) sum += draws.z(k, i);
    for (std::size_t k = 0; k < n; ++k) squares += std::pow(draws.z(k, i) - sum / n, 2);
    EXPECT_NEAR(sum / n, mean, 1.5 * 4.5 * std::sqrt(v / n));
    EXPECT_NEAR(squares / n, v, 1.5 * 4.5 * std::sqrt(2.0 / n) * v);
  }
}

TEST(LongStart, RefusesWhereNoGaussianFits) {
  // A ridge that never ends: its gradient points outwards everywhere, so that no start comes to rest inside.
  const PointTarget target(2, [](std::span<const double> z, std::span<double> gradient) {
    gradient[0] = -z[0] * 1e4 * std::exp(z[1]), gradient[1] = 1 - 0.5 * z[0] * z[0] * 1e4 * std::exp(z[1]);
    return -0.5 * z[0] * z[0] * 1e4 * std::exp(z[1]) + z[1];
  });
  const Start start = long_start(target, target, 64, 1, Streams(3), silent_progress());
  EXPECT_EQ(start.outcome, Outcome::not_mixed);
}

}  // namespace
}  // namespace catena::sample::long_start_test

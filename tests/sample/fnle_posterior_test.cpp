// FNLE with the exact density in place of a trained network gives the conjugate posterior of gaussian_rw.
#include "catena/sample/posteriors/fnle.h"

#include <gtest/gtest.h>

#include <cmath>

#include "train/exact_density.h"

namespace catena::sample::fnle_posterior_test {
namespace {

/// Posterior N(Σ_t (x^(t+1) − 0.9 x^t)/(T+1), I/(T+1)). Means of n draws, near-independent, have deviation √(v/n) and
/// variances √(2/n) v; 4.5 of them, 24 comparisons: a false alarm in 6,000 seeds. Draws of a chain are not quite
/// independent: a factor of 1.5.
TEST(FnlePosterior, IsConjugateForTheExactDensityOfGaussianRw) {
  const model::TrainedModel model = train::testing::exact_gaussian_rw(2);
  constexpr std::size_t n = 1000;
  for (const std::size_t T : {1, 10, 200}) {
    for (const char* kernel : {"auto", "nuts"}) {
      const Matrix series = train::testing::gaussian_rw_series(2, T, 40 + T);
      const PosteriorDraws draws =
          draw_posterior({.model = model, .series = {{series}}, .draws = n, .settings = {{"kernel", kernel}}},
                         Streams(2), Parallel(2));
      EXPECT_EQ(draws.outcome, Outcome::ok);
      EXPECT_LE(draws.info["r_hat"].get<double>(), 1.01);
      EXPECT_GE(draws.info["bulk_ess"].get<double>(), 1000);
      const double v = 1 / (static_cast<double>(T) + 1);
      for (std::size_t i = 0; i < 2; ++i) {
        double mean = 0, sum = 0, squares = 0;
        for (std::size_t t = 0; t < T; ++t) mean += v * (series(t + 1, i) - 0.9 * series(t, i));
        for (std::size_t k = 0; k < n; ++k) sum += draws.z(k, i);
        for (std::size_t k = 0; k < n; ++k) squares += std::pow(draws.z(k, i) - sum / n, 2);
        EXPECT_NEAR(sum / n, mean, 1.5 * 4.5 * std::sqrt(v / n)) << kernel << " " << T;
        EXPECT_NEAR(squares / n, v, 1.5 * 4.5 * std::sqrt(2.0 / n) * v) << kernel << " " << T;
      }
    }
  }
}

TEST(FnlePosterior, RefusesModelsOfOtherMethods) {
  model::TrainedModel model = train::testing::exact_gaussian_rw(1);
  model.method = "fnse";
  EXPECT_THROW(model::DensityModel{model}, InputError);
}

}  // namespace
}  // namespace catena::sample::fnle_posterior_test

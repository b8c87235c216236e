// A density network whose weights make it exact: sums over a series against the closed form.
#include "catena/compose/series_likelihood.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "train/exact_density.h"

namespace catena::compose {
namespace {

struct Trial {
  explicit Trial(std::size_t transitions, int threads = 1)
      : model(train::testing::exact_gaussian_rw(2)),
        density(model),
        series(train::testing::gaussian_rw_series(2, transitions, 4)),
        observed(observed_series("test", model, series, {})),
        likelihood(series_likelihood(density, observed, Parallel(threads))) {}

  train::TrainedModel model;
  train::DensityModel density;
  Matrix series;
  ObservedSeries observed;
  std::unique_ptr<SeriesDensity> likelihood;
};

Matrix points(std::size_t rows) {
  Matrix z(rows, 2);
  Streams(9).stream("z").fill_normal(z.values());
  return z;
}

TEST(SeriesLikelihood, IsTheClosedFormOfGaussianRw) {
  for (const std::size_t T : {1, 7, 100, 128, 129, 700}) {
    const Trial trial(T);
    const Matrix z = points(37);
    std::vector<double> out(z.rows());
    Matrix gradient(z.rows(), 2);
    trial.likelihood->evaluate(z, out, gradient);
    for (std::size_t k = 0; k < z.rows(); ++k) {
      double expected = -static_cast<double>(T) * std::log(2 * std::numbers::pi), size = 1;
      double slope[2] = {0, 0};
      for (std::size_t t = 0; t < T; ++t) {
        for (std::size_t i = 0; i < 2; ++i) {
          const double e = trial.series(t + 1, i) - 0.9 * trial.series(t, i) - z(k, i);
          expected -= 0.5 * e * e;
          size += 0.5 * e * e + std::abs(e);
          slope[i] += e;
        }
      }
      // Floats: residuals of some units with a rounding of 1e-6 of the states' scale of 10.
      EXPECT_NEAR(out[k], expected, 1e-5 * size) << T;
      for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(gradient(k, i), slope[i], 1e-5 * size) << T;
    }
  }
}

TEST(SeriesLikelihood, DoesNotDependOnThreadsOrOnTheOtherPoints) {
  for (const std::size_t T : {3, 100, 300}) {
    const Trial one(T, 1), two(T, 2);
    const Matrix z = points(21);
    std::vector<double> a(z.rows()), b(z.rows());
    Matrix gradient_a(z.rows(), 2), gradient_b(z.rows(), 2);
    one.likelihood->evaluate(z, a, gradient_a);
    two.likelihood->evaluate(z, b, gradient_b);
    EXPECT_EQ(a, b);
    EXPECT_EQ(gradient_a, gradient_b);
    std::vector<double> plain(z.rows());
    one.likelihood->evaluate(z, plain, {});
    EXPECT_EQ(a, plain);
    Matrix alone(1, 2);
    std::ranges::copy(z.row(13), alone.row(0).begin());
    std::vector<double> value(1);
    one.likelihood->evaluate(alone, value, {});
    EXPECT_EQ(value[0], a[13]);
  }
}

}  // namespace
}  // namespace catena::compose

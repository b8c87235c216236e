#include "catena/tasks/double_well/double_well.h"

#include <gtest/gtest.h>

#include "evaluate/reference_twins.h"

namespace catena::tasks::double_well_test {

/// p(y | x) of one coordinate.
double density(double x, double y, const twins::State& theta, const double_well::Quadrature& quadrature = {}) {
  Matrix series(2, 1);
  series(0, 0) = x;
  series(1, 0) = y;
  return std::exp(double_well::likelihood(series, {.states = 1}, quadrature)->log_likelihood(theta));
}

TEST(DoubleWellLikelihood, AgreesWithAMuchFinerGrid) {
  const twins::Twin twin = twins::double_well();
  for (const std::size_t transitions : {3, 40}) {  // below and above the number from which P⁴ is used
    for (std::size_t s = 0; s < 5; ++s) {
      Stream stream = Streams(1).stream("series", transitions, s);
      const twins::State theta = twins::prior_draw(twin, stream);
      const Matrix series = twins::series(twin, theta, transitions, stream);
      const double fine = double_well::likelihood(series, {}, {.spacing = 0.25, .padding = 12})->log_likelihood(theta);
      const double densities = 4 * static_cast<double>(transitions);
      EXPECT_NEAR(twin.likelihood(series)->log_likelihood(theta), fine, 1e-9 * densities);
    }
  }
}

TEST(DoubleWellLikelihood, IntegratesToOneAndHasTheMomentsOfSimulations) {
  const twins::State theta = {1.5, 1.0};
  for (const double x : {-0.5, 0.0, 1.4}) {
    // The trapezoidal rule on a smooth density over ±10 standard deviations: exact to rounding.
    double mass = 0, mean = 0, square = 0;
    constexpr double h = 0.02;
    for (double y = x - 2.3; y < x + 2.3; y += h) {
      const double p = density(x, y, theta) * h;
      mass += p, mean += p * y, square += p * y * y;
    }
    EXPECT_NEAR(mass, 1, 1e-9);
    // Simulated moments within 4.5 standard errors: 2 × 3 checks, false alarm 4e-5.
    constexpr int n = 20000;
    double sum = 0, squares = 0;
    Stream stream = Streams(2).stream("simulate", static_cast<int>(10 * x + 100));
    for (int i = 0; i < n; ++i) {
      double value = x;
      for (int k = 0; k < 10; ++k) {
        value += (std::exp(0.75) * value - std::exp(0.5) * value * value * value) * 0.005 +
                 std::sqrt(0.005) * stream.normal();
      }
      sum += value / n, squares += value * value / n;
    }
    const double variance = square - mean * mean;
    EXPECT_NEAR(sum, mean, 4.5 * std::sqrt(variance / n));
    EXPECT_NEAR(squares - sum * sum, variance, 4.5 * variance * std::sqrt(2.0 / n));
  }
}

TEST(DoubleWellLikelihood, IsSymmetricUnderReflection) {
  EXPECT_DOUBLE_EQ(density(0.7, 0.2, {0.3, -0.4}), density(-0.7, -0.2, {0.3, -0.4}));
}

TEST(DoubleWellLikelihood, TakesAnyNumberOfInnerSteps) {
  // Against brute-force products of kernels on a fine grid of their own.
  for (const int steps : {1, 2, 3, 5}) {
    const double dt = 0.02, s = std::sqrt(dt), a = std::exp(0.2), b = std::exp(-0.3), x = 0.4, y = 0.9, h = s / 4;
    const auto f = [&](double z) { return z + (a * z - b * z * z * z) * dt; };
    const auto normal = [&](double z, double m) {
      return std::exp(-0.5 * (z - m) * (z - m) / dt) / (s * std::sqrt(2 * M_PI));
    };
    std::vector<double> grid;
    for (double z = -2.5; z < 3.5; z += h) grid.push_back(z);
    double expected = normal(y, f(x));
    if (steps > 1) {
      std::vector<double> v;
      for (const double z : grid) v.push_back(normal(z, f(x)));
      for (int k = 2; k < steps; ++k) {
        std::vector<double> next(grid.size(), 0.0);
        for (std::size_t i = 0; i < grid.size(); ++i) {
          for (std::size_t j = 0; j < grid.size(); ++j) next[j] += h * v[i] * normal(grid[j], f(grid[i]));
        }
        v = next;
      }
      expected = 0;
      for (std::size_t i = 0; i < grid.size(); ++i) expected += h * v[i] * normal(y, f(grid[i]));
    }
    Matrix series(2, 1);
    series(0, 0) = x;
    series(1, 0) = y;
    const auto likelihood = double_well::likelihood(series, {.states = 1, .steps = steps, .dt = dt});
    EXPECT_NEAR(likelihood->log_likelihood(std::vector<double>{0.4, -0.6}), std::log(expected), 1e-8) << steps;
  }
}

}  // namespace catena::tasks::double_well_test

// The closed forms of every schedule against the differential equations that define them.
#include "catena/diffusion/schedule.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "catena/core/errors.h"

namespace catena::diffusion::schedule_test {
namespace {

TEST(EverySchedule, MomentsSolveTheEquationsOfItsDiffusion) {
  for (const NamedSchedule& entry : schedules()) {
    const Schedule& s = entry.schedule;
    // m' = f m and (σ²)' = 2 f σ² + g² from m(0) = 1, σ²(0) = 0, by the classical Runge–Kutta method. Its error at
    // 2,000 steps, (growth · h)⁴ with growth < 14, is below 3e-9 of the values.
    const auto slope = [&](double a, std::array<double, 2> y) {
      return std::array{s.f(a) * y[0], 2 * s.f(a) * y[1] + s.g_squared(a)};
    };
    std::array<double, 2> y{1, 0};
    const int steps = 2000;
    const double h = 1.0 / steps;
    for (int i = 0; i < steps; ++i) {
      const double a = i * h;
      const auto plus = [&](std::array<double, 2> k, double by) {
        return std::array{y[0] + by * k[0], y[1] + by * k[1]};
      };
      const auto k1 = slope(a, y), k2 = slope(a + h / 2, plus(k1, h / 2)), k3 = slope(a + h / 2, plus(k2, h / 2)),
                 k4 = slope(a + h, plus(k3, h));
      for (int j = 0; j < 2; ++j) y[j] += h / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
      if (i % 100 == 99) {
        EXPECT_NEAR(s.m(a + h), y[0], 1e-8) << entry.name << " a = " << a + h;
        EXPECT_NEAR(s.sigma_squared(a + h), y[1], 1e-8 * (1 + y[1])) << entry.name << " a = " << a + h;
      }
    }
  }
}

TEST(EverySchedule, DerivativesOfTheMomentsAreFAndG) {
  for (const NamedSchedule& entry : schedules()) {
    const Schedule& s = entry.schedule;
    const double h = 1e-5;  // central differences: error about h² · third derivative + ε/h, both below 1e-8 · scale
    for (const double a : {0.02, 0.1, 0.5, 0.99}) {
      const double dm = (s.m(a + h) - s.m(a - h)) / (2 * h);
      const double dv = (s.sigma_squared(a + h) - s.sigma_squared(a - h)) / (2 * h);
      EXPECT_NEAR(dm, s.f(a) * s.m(a), 1e-7) << entry.name;
      EXPECT_NEAR(dv, 2 * s.f(a) * s.sigma_squared(a) + s.g_squared(a), 1e-7 * (1 + std::abs(dv))) << entry.name;
    }
  }
}

TEST(EverySchedule, NoiseInUnitsOfTheSignalHasAnInverse) {
  for (const NamedSchedule& entry : schedules()) {
    const Schedule& s = entry.schedule;
    double before = 0;
    for (const double a : {1e-6, 1e-4, 0.01, 0.2, 0.7, 1.0}) {
      EXPECT_NEAR(s.a_at(s.eta(a)), a, 1e-12 * a + 1e-18) << entry.name;
      EXPECT_NEAR(s.sigma(a) * s.sigma(a), s.sigma_squared(a), 1e-14 * s.sigma_squared(a)) << entry.name;
      EXPECT_GT(s.eta(a), before) << entry.name;
      before = s.eta(a);
    }
    EXPECT_EQ(s.sigma(0), 0) << entry.name;
    EXPECT_EQ(s.m(0), 1) << entry.name;
    EXPECT_EQ(s.a_at(0), 0) << entry.name;
  }
}

TEST(Schedule, VariancePreservingHasThePapersMomentsAndWeight) {
  const Schedule s;
  const double a = 0.3;
  const double m = std::exp(-0.25 * a * a * (10 - 0.1) - 0.5 * a * 0.1);
  EXPECT_NEAR(s.m(a), m, 1e-15);
  EXPECT_NEAR(s.sigma_squared(a), 1 - m * m, 1e-15);
  EXPECT_EQ(s.weight(0.3), s.sigma_squared(0.3));
  EXPECT_EQ(s.weight(0.001), 0.01);
  EXPECT_EQ(s.likelihood_weight(0.3), s.g_squared(0.3));
}

TEST(Schedule, RefusesNoiseThatDoesNotGrow) {
  EXPECT_THROW(check_schedule("test", {.beta_min = 2, .beta_max = 1}), InputError);
  EXPECT_THROW(check_schedule("test", {.sigma_min = 0}), InputError);
  EXPECT_THROW(check_schedule("test", {.a_min = 1}), InputError);
  EXPECT_NO_THROW(check_schedule("test", {}));
}

}  // namespace
}  // namespace catena::diffusion::schedule_test

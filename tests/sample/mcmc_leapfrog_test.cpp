#include <gtest/gtest.h>

#include <numeric>

#include "catena/sample/mcmc/kernels/leapfrog.h"
#include "sample/mcmc_targets.h"

namespace catena::sample::mcmc_leapfrog_test {

/// Phase points at exact draws of the target, with momenta.
PhasePoints phase_points(const KnownTarget& known, const CountedTarget& target, std::size_t n) {
  PhasePoints points(n, known.dimension);
  Stream stream = Streams(3).stream("points");
  for (std::size_t c = 0; c < n; ++c) known.draw(stream, points.z.row(c));
  stream.fill_normal(points.u.values());
  target.log_density_and_gradient(points.z, points.log_density, points.gradient);
  return points;
}

/// A metric with correlations, learned from exact draws.
Metric learned_metric(const KnownTarget& known) {
  Matrix draws(20'000, known.dimension);
  Stream stream = Streams(4).stream("metric");
  for (std::size_t c = 0; c < draws.rows(); ++c) known.draw(stream, draws.row(c));
  return Metric(draws, true);
}

TEST(Leapfrog, ComesBackWhenMomentaAreReversed) {
  const KnownTarget known = correlated_gaussian(5, 0.8);
  const PointTarget point_target(known.dimension, known.density);
  const CountedTarget target(point_target);
  const std::size_t n = 7;
  PhasePoints points = phase_points(known, target, n);
  const Matrix begin = points.z;
  const Metric metric = learned_metric(known);
  Leapfrog leapfrog(n, known.dimension);
  std::vector<std::size_t> rows(n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const std::vector<double> steps(n, 0.3);
  for (int i = 0; i < 10; ++i) leapfrog(target, metric, rows, steps, points);
  double moved = 0;
  for (std::size_t i = 0; i < begin.values().size(); ++i) {
    moved = std::max(moved, std::abs(points.z.values()[i] - begin.values()[i]));
  }
  EXPECT_GT(moved, 0.5);
  for (double& u : points.u.values()) u = -u;
  for (int i = 0; i < 10; ++i) leapfrog(target, metric, rows, steps, points);
  // Each step rounds by some eps relative to values of order 1 over gradients of order 1/0.05.
  for (std::size_t i = 0; i < begin.values().size(); ++i) {
    EXPECT_NEAR(points.z.values()[i], begin.values()[i], 1e-11);
  }
}

/// At a fixed length of time the energy error falls as ε²: by 4 with each halving of ε, within 10 % at these small ε.
TEST(Leapfrog, HasAnEnergyErrorOfSecondOrder) {
  const KnownTarget known = log_gammas();
  const PointTarget point_target(known.dimension, known.density);
  const CountedTarget target(point_target);
  const std::size_t n = 20;
  const Metric metric = learned_metric(known);
  std::vector<std::size_t> rows(n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::vector<double> errors;
  for (const int count : {40, 80, 160}) {
    PhasePoints points = phase_points(known, target, n);
    Leapfrog leapfrog(n, known.dimension);
    std::vector<double> begin(n);
    for (std::size_t c = 0; c < n; ++c) begin[c] = points.energy(c);
    for (int i = 0; i < count; ++i) leapfrog(target, metric, rows, std::vector<double>(n, 1.0 / count), points);
    double error = 0;
    for (std::size_t c = 0; c < n; ++c) error += std::abs(points.energy(c) - begin[c]);
    errors.push_back(error);
  }
  EXPECT_NEAR(errors[0] / errors[1], 4, 0.4);
  EXPECT_NEAR(errors[1] / errors[2], 4, 0.4);
}

TEST(Leapfrog, GivesAPointThatLeavesTheNumbersAnInfiniteEnergy) {
  const PointTarget target(1, [](std::span<const double> z, std::span<double> gradient) {
    gradient[0] = 1e308;
    return z[0];
  });
  PhasePoints points(1, 1);
  points.gradient(0, 0) = 1e308;
  Leapfrog leapfrog(1, 1);
  leapfrog(target, Metric(1), std::vector<std::size_t>{0}, std::vector<double>{1e10}, points);
  EXPECT_EQ(points.energy(0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(points.z(0, 0), 0);
}

TEST(Metric, WhitensTheTarget) {
  const KnownTarget known = correlated_gaussian(3, 0.9);
  const Metric metric = learned_metric(known);
  // L e_axis by both ways, and ⟨L u, g⟩ = ⟨u, Lᵀ g⟩.
  const std::vector<double> u{0.3, -1.2, 0.7}, g{2, 0.1, -0.4};
  std::vector<double> stretched(3), pulled(3), along(3), sum(3, 0.0);
  metric.stretch(u, stretched);
  metric.pull_back(g, pulled);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    metric.along(axis, u[axis], along);
    for (std::size_t i = 0; i < 3; ++i) sum[i] += along[i];
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(sum[i], stretched[i], 1e-14);
  EXPECT_NEAR(std::inner_product(stretched.begin(), stretched.end(), g.begin(), 0.0),
              std::inner_product(u.begin(), u.end(), pulled.begin(), 0.0), 1e-14);
  // A gradient of the exact log density at mean + L u should be about −u where the metric fits; of 20,000 draws
  // it knows each variance to 1 %.
  std::vector<double> z(3), gradient(3);
  for (std::size_t i = 0; i < 3; ++i) z[i] = known.margins[i].quantile(0.5) + stretched[i];
  known.density(z, gradient);
  metric.pull_back(gradient, pulled);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(pulled[i], -u[i], 0.1);
}

TEST(DualAveraging, FindsTheStepThatGivesTheWantedStatistic) {
  // A statistic e^(−ε): 0.8 at ε = −log 0.8.
  DualAveraging averaging(0.8, 3.0);
  for (int t = 0; t < 400; ++t) averaging.update(std::exp(-averaging.step()));
  EXPECT_NEAR(averaging.average(), -std::log(0.8), 0.01);
}

TEST(DualAveraging, StaysFiniteWhereTheStatisticCannotBeSteered) {
  DualAveraging averaging(0.8, 1.0);
  for (int t = 0; t < 10'000; ++t) averaging.update(0);
  EXPECT_GT(averaging.average(), 0);
  EXPECT_TRUE(std::isfinite(averaging.step()));
}

}  // namespace catena::sample::mcmc_leapfrog_test

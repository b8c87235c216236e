// The distance correlation against what is known of it: exact values of small sets and of populations.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "catena/nn/execute.h"
#include "nn/targets.h"

namespace catena::nn::distance_correlation_test {

/// R² of the rows of x and y.
double squared_correlation(const Matrix& x, const Matrix& y) {
  Graph graph;
  const Value u = graph.input("x", x.cols()), v = graph.input("y", y.cols());
  const Value r = graph.apply("distance_correlation", {u, v});
  Workspace workspace(graph, x.rows(), Purpose::inference());
  for (const auto& [value, rows] : {std::pair(u, &x), std::pair(v, &y)}) {
    const Block block = workspace.value(value, x.rows());
    for (std::size_t l = 0; l < rows->rows(); ++l) {
      for (std::size_t f = 0; f < rows->cols(); ++f) block(f, l) = static_cast<float>((*rows)(l, f));
    }
  }
  workspace.forward({}, x.rows());
  return workspace.value(r, x.rows())(0, 0);
}

Matrix column(std::initializer_list<double> values) {
  Matrix result(values.size(), 1);
  std::copy(values.begin(), values.end(), result.values().begin());
  return result;
}

TEST(DistanceCorrelation, IsOneForSimilarSetsAndZeroForAConstant) {
  Matrix x(50, 3), turned(50, 3), constant(50, 2);
  Stream stream = Streams(1).stream("x");
  stream.fill_normal(x.values());
  for (std::size_t r = 0; r < x.rows(); ++r) {  // turned by 90 degrees, doubled and shifted: distances are doubled
    turned(r, 0) = 3 - 2 * x(r, 1);
    turned(r, 1) = 2 * x(r, 0) - 7;
    turned(r, 2) = 2 * x(r, 2);
  }
  catena::testing::for_each_target([&] {
    EXPECT_NEAR(squared_correlation(x, turned), 1, 1e-5);
    EXPECT_EQ(squared_correlation(x, constant), 0);
    EXPECT_EQ(squared_correlation(constant, x), 0);
  });
}

TEST(DistanceCorrelation, HasTheValueOfThreePointsByHand) {
  // x = 0, 1, 3 and y = 0, 2, 1. Centred on both sides, times 9:
  //   9A = [[−12, 0, 12], [0, −6, 6], [12, 6, −18]],  9B = [[−10, 8, 2], [8, −10, 2], [2, 2, −4]],
  // so that 81 Σ A B = 120 + 0 + 24 + 0 + 60 + 12 + 24 + 12 + 72 = 324, 81 Σ A² = 864, 81 Σ B² = 360.
  EXPECT_NEAR(squared_correlation(column({0, 1, 3}), column({0, 2, 1})), 324 / std::sqrt(864.0 * 360.0), 1e-6);
}

/// Of two standard normal numbers with correlation ρ (szekely2007, theorem 7).
double of_normals(double rho) {
  return (rho * std::asin(rho) + std::sqrt(1 - rho * rho) - rho * std::asin(rho / 2) - std::sqrt(4 - rho * rho) + 1) /
         (1 + std::numbers::pi / 3 - std::sqrt(3.0));
}

TEST(DistanceCorrelation, IsThatOfThePopulationForNormalNumbers) {
  // The estimate's standard deviation is at most 0.024 over these ρ at 1,000 pairs (60 repetitions in NumPy), so 0.012
  // at 4,000; its bias is 3/n for ρ = 0. Four checks within 4 deviations: wrong for one seed in 4,000.
  constexpr std::size_t pairs = 4000;
  Stream stream = Streams(7).stream("normal");
  for (const double rho : {0.0, 0.3, -0.5, 0.8, 0.95}) {
    Matrix x(pairs, 1), y(pairs, 1);
    for (std::size_t r = 0; r < pairs; ++r) {
      x(r, 0) = stream.normal();
      y(r, 0) = rho * x(r, 0) + std::sqrt(1 - rho * rho) * stream.normal();
    }
    EXPECT_NEAR(squared_correlation(x, y), of_normals(rho), rho == 0 ? 0.004 : 0.048) << rho;
  }
  EXPECT_NEAR(of_normals(1), 1, 1e-12);
}

TEST(DistanceCorrelation, SeesADependenceWithoutCorrelation) {
  Matrix x(1000, 1), y(1000, 1), other(1000, 1);
  Stream stream = Streams(3).stream("normal");
  stream.fill_normal(x.values());
  stream.fill_normal(other.values());
  for (std::size_t r = 0; r < x.rows(); ++r) y(r, 0) = x(r, 0) * x(r, 0);
  EXPECT_GT(squared_correlation(x, y), 0.2);       // 0.29 ± 0.01 in NumPy
  EXPECT_LT(squared_correlation(x, other), 0.01);  // 0.003 ± 0.001
}

}  // namespace catena::nn::distance_correlation_test

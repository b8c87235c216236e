#include "catena/nn/kernels/rational_quadratic.h"

#include <gtest/gtest.h>

#include "catena/core/random.h"

namespace catena::nn::spline::rational_quadratic_test {
namespace {

constexpr std::size_t bins = 5;
constexpr double bound = 3;

Knots<double> random_knots(std::uint64_t seed) {
  std::vector<double> raw(parameter_count(bins));
  Streams(seed).stream("spline").fill_normal(std::span<double>(raw));
  return knots<double>(bins, bound, [&](std::size_t i) { return raw[i]; });
}

double value_at(const Knots<double>& at, double v) {
  return evaluate(bin(at, find_bin(at.x, [&](double x) { return v < x; })), v).first;
}

TEST(RationalQuadratic, PassesThroughItsKnotsAndGrows) {
  const auto at = random_knots(1);
  EXPECT_NEAR(at.x.back(), bound, 1e-12);
  EXPECT_NEAR(at.y.back(), bound, 1e-12);
  for (std::size_t k = 0; k < bins; ++k) EXPECT_NEAR(value_at(at, at.x[k]), at.y[k], 1e-12);
  double last = -bound;
  for (double v = -bound + 0.01; v < bound; v += 0.01) {
    EXPECT_GT(value_at(at, v), last) << v;
    last = value_at(at, v);
  }
}

TEST(RationalQuadratic, LogSlopeIsThatOfDifferences) {
  const auto at = random_knots(2);
  constexpr double step = 1e-6;  // central differences: error step² f''' and rounding 1e-16/step
  for (double v = -2.9; v < 2.9; v += 0.173) {
    const auto k = find_bin(at.x, [&](double x) { return v < x; });
    const double slope = (evaluate(bin(at, k), v + step).first - evaluate(bin(at, k), v - step).first) / (2 * step);
    EXPECT_NEAR(evaluate(bin(at, k), v).second, std::log(slope), 1e-7) << v;
  }
}

TEST(RationalQuadratic, InverseAndForwardAgree) {
  for (std::uint64_t seed = 3; seed < 8; ++seed) {
    const auto at = random_knots(seed);
    for (double u = -2.99; u < 3; u += 0.031) EXPECT_NEAR(value_at(at, invert(at, bound, u)), u, 1e-10) << u;
    EXPECT_EQ(invert(at, bound, 4.5), 4.5);
  }
}

TEST(RationalQuadratic, IsTheIdentityForParametersZero) {
  const auto at = knots<double>(bins, bound, [](std::size_t) { return 0.0; });
  for (double v = -2.9; v < 3; v += 0.1) EXPECT_NEAR(value_at(at, v), v, 1e-9);
}

}  // namespace
}  // namespace catena::nn::spline::rational_quadratic_test

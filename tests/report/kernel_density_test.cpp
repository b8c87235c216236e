#include "catena/report/kernel_density.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "catena/core/random.h"
#include "catena/report/contour.h"

namespace catena::report::density_test {
namespace {

std::vector<double> normals(std::size_t n, const char* stream, double mean = 0, double deviation = 1) {
  std::vector<double> values(n);
  Stream random = Streams(7).stream(stream);
  random.fill_normal(values);
  for (double& v : values) v = mean + deviation * v;
  return values;
}

double height_at(const Density& density, double x) {
  const auto cell = static_cast<std::size_t>((x - density.grid.low) / density.grid.width());
  return density.height.at(cell);
}

/// Twice the area inside a closed ring, positive if it turns left.
double area(const Ring& ring) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < ring.size(); ++i) sum += ring[i].x * ring[i + 1].y - ring[i + 1].x * ring[i].y;
  return sum / 2;
}

TEST(ReportDensity, ComesCloseToANormal) {
  const Density density = report::density(normals(20000, "normal"));
  // At the mode the standard error is √(p / (2√π n h)) ≈ 0.005 for h ≈ 0.14 and the bias ½h²p″ ≈ −0.004; 4.5 standard
  // errors and the bias are 0.027: a false alarm in 150,000.
  EXPECT_NEAR(height_at(density, 0), 0.3989, 0.027);
  const double total = std::accumulate(density.height.begin(), density.height.end(), 0.0) * density.grid.width();
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_FALSE(density.grid.reflect_low || density.grid.reflect_high);
}

TEST(ReportDensity, KeepsTwoModesApart) {
  std::vector<double> values = normals(500, "left", -2, 0.3);
  const std::vector<double> right = normals(500, "right", 2, 0.3);
  values.insert(values.end(), right.begin(), right.end());
  const Density density = report::density(values);
  // The truth is 0.66 at the modes and 1e-9 between them. Silverman's rule, h = 0.45, would give 0.36 at the modes.
  EXPECT_GT(height_at(density, 2), 0.5);
  EXPECT_LT(height_at(density, 0), 0.01);
  EXPECT_FALSE(density.grid.reflect_low || density.grid.reflect_high);  // dense beside the whole range is not a border
}

TEST(ReportDensity, DoesNotLeakOutOfTheBordersOfThePrior) {
  std::vector<double> values(5000);
  Stream random = Streams(8).stream("uniform");
  for (double& v : values) v = random.uniform();
  const Density density = report::density(values);
  EXPECT_TRUE(density.grid.reflect_low && density.grid.reflect_high);
  EXPECT_GE(density.grid.low, 0);
  EXPECT_LE(density.grid.high, 1);
  // Half of the height is what a kernel without reflection gives at the border; the noise is below 0.1.
  EXPECT_GT(density.height.front(), 0.75);
  EXPECT_GT(density.height.back(), 0.75);
}

TEST(ReportDensity, StaysSmoothBehindABorder) {
  std::vector<double> values(600);
  Stream random = Streams(9).stream("exponential");
  for (double& v : values) v = -std::log(1 - random.uniform());
  const Density density = report::density(values);
  std::size_t bumps = 0;
  for (std::size_t i = 1; i + 1 < density.grid.cells; ++i) {
    bumps += density.height[i] > density.height[i - 1] && density.height[i] > density.height[i + 1] ? 1 : 0;
  }
  // The truth falls all the way. A kernel that takes the border for structure makes more than twenty bumps.
  EXPECT_LE(bumps, 6U);
}

TEST(ReportDensity, HasNoBandwidthWhereNothingVaries) {
  EXPECT_EQ(bandwidth(std::vector<double>(50, 3.0)), 0);
  EXPECT_EQ(bandwidth(std::vector<double>{1.0}), 0);
  EXPECT_GT(bandwidth(std::vector<double>{1.0, 2.0}), 0);
}

TEST(ReportDensity, ScalesWithTheValues) {
  const std::vector<double> values = normals(300, "scale");
  std::vector<double> far = values;
  for (double& v : far) v = 1e6 + 1e-3 * v;
  EXPECT_NEAR(bandwidth(far) / bandwidth(values), 1e-3, 1e-6);
}

TEST(ReportRegion, OfANormalHasNoIslands) {
  // Heavy tails leave single draws far out; twenty sets of draws, each with one outline at 90 % and at 50 %.
  for (int set = 0; set < 20; ++set) {
    std::vector<double> x(300), y(300);
    Stream random = Streams(11).stream("islands", static_cast<std::uint64_t>(set));
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double scale = 1 / std::sqrt(0.25 * (std::pow(random.normal(), 2) + std::pow(random.normal(), 2) +
                                                 std::pow(random.normal(), 2) + std::pow(random.normal(), 2)));
      x[k] = scale * random.normal();
      y[k] = 0.8 * x[k] + 0.6 * scale * random.normal();
    }
    const Density2 both = density(x, y);
    for (const double share : {0.9, 0.5}) {
      std::size_t small = 0;
      const std::vector<Ring> rings = outline(both, height_of_region(both.height, share));
      double largest = 0;
      for (const Ring& ring : rings) largest = std::max(largest, std::abs(area(ring)));
      for (const Ring& ring : rings) small += std::abs(area(ring)) < 0.02 * largest ? 1 : 0;
      EXPECT_EQ(small, 0U) << "set " << set << ", share " << share << ": " << rings.size() << " rings";
    }
  }
}

TEST(ReportRegion, KeepsTwoModesApart) {
  std::vector<double> x = normals(500, "left", -2, 0.3), y = normals(1000, "y");
  const std::vector<double> right = normals(500, "right", 2, 0.3);
  x.insert(x.end(), right.begin(), right.end());
  const Density2 both = density(x, y);
  EXPECT_EQ(outline(both, height_of_region(both.height, 0.9)).size(), 2U);
}

TEST(ReportRegion, HoldsTheShareOfTheDrawsThatItSays) {
  const std::size_t n = 4000;
  const std::vector<double> x = normals(n, "x"), e = normals(n, "e");
  std::vector<double> y(n);
  for (std::size_t k = 0; k < n; ++k) y[k] = 0.9 * x[k] + std::sqrt(1 - 0.81) * e[k];
  const Density2 density = report::density(x, y);
  for (const double share : {0.5, 0.9}) {
    const std::vector<Ring> rings = outline(density, height_of_region(density.height, share));
    double inside = 0;
    for (const Ring& ring : rings) inside += area(ring);
    // {zᵀΣ⁻¹z < −2 log(1 − share)} has the area −2π log(1 − share) √det Σ. The kernel widens each axis of the ellipse
    // by a factor of at most √(1 + h²/λ), λ ≥ 0.1 and h ≈ 0.1 here: 5 %; sampling adds about as much.
    const double exact = -2 * M_PI * std::log(1 - share) * std::sqrt(1 - 0.81);
    EXPECT_NEAR(inside / exact, 1, 0.12) << share;
  }
}

Density2 on_a_grid(std::size_t cells, double (*height)(double, double)) {
  Density2 result{{-2, 2, cells}, {-2, 2, cells}, {}};
  for (std::size_t j = 0; j < cells; ++j) {
    for (std::size_t i = 0; i < cells; ++i) result.height.push_back(height(result.x.middle(i), result.y.middle(j)));
  }
  return result;
}

TEST(ReportOutline, OfADiscIsACircleThatTurnsLeft) {
  const auto rings = outline(on_a_grid(80, [](double x, double y) { return 4 - x * x - y * y; }), 3);
  ASSERT_EQ(rings.size(), 1U);
  // x² + y² = 1. Along a cell's side of width w, linear interpolation is off by at most w²/8 · |p″| = w²/4 in height,
  // and the slope there is 2: w²/8 in radius.
  for (const Point& p : rings[0]) EXPECT_NEAR(std::hypot(p.x, p.y), 1, 0.05 * 0.05 / 8);
  EXPECT_NEAR(area(rings[0]), M_PI, 0.01);
  EXPECT_EQ(rings[0].front().x, rings[0].back().x);
}

TEST(ReportOutline, OfARingHasAHoleThatTurnsRight) {
  const auto rings =
      outline(on_a_grid(80, [](double x, double y) { return -std::abs(std::hypot(x, y) - 1) + 2; }), 1.7);
  ASSERT_EQ(rings.size(), 2U);
  EXPECT_LT(area(rings[0]) * area(rings[1]), 0);
  // The one path has the area of the ring itself: π (1.3² − 0.7²).
  EXPECT_NEAR(area(fillable(rings)), M_PI * 1.2, 0.02);
}

TEST(ReportOutline, IsClosedAlongTheEdgeOfTheGrid) {
  const auto rings = outline(on_a_grid(40, [](double x, double) { return x > 0 ? 1.0 : 0.0; }), 0.5);
  ASSERT_EQ(rings.size(), 1U);
  EXPECT_NEAR(area(rings[0]), 8, 0.3);  // half of the 4 × 4 grid, to one cell's width along the edge
}

TEST(ReportOutline, OfASaddleIsDecidedByItsMiddle) {
  // Two diagonal cells high, two low: apart at a level above the mean, joined below it.
  Density2 saddle{{0, 2, 2}, {0, 2, 2}, {1, 0, 0, 1}};
  EXPECT_EQ(outline(saddle, 0.6).size(), 2U);
  EXPECT_EQ(outline(saddle, 0.4).size(), 1U);
}

}  // namespace
}  // namespace catena::report::density_test

// A held density is the density where z was trained and keeps its value at the edge beyond.
#include "catena/compose/density/held_density.h"

#include <gtest/gtest.h>

#include <cmath>

namespace catena::compose::held_density_test {
namespace {

/// z_1² + 3 z_2: what no prior can hold.
class Growing final : public SeriesDensity {
 public:
  std::size_t dimension() const override { return 2; }
  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override {
    for (std::size_t i = 0; i < z.rows; ++i) {
      out[i] = z(i, 0) * z(i, 0) + 3 * z(i, 1);
      if (gradient.rows == 0) continue;
      gradient(i, 0) = 2 * z(i, 0);
      gradient(i, 1) = 3;
    }
  }
};

struct Point {
  double value, slope[2];
};

Point at(double z1, double z2) {
  Matrix z(1, 2), gradient(1, 2);
  z(0, 0) = z1;
  z(0, 1) = z2;
  double value = 0, alone = 0;
  const auto held = held_density(std::make_unique<Growing>());
  held->evaluate(z, {&value, 1}, gradient);
  held->evaluate(z, {&alone, 1}, {});
  EXPECT_EQ(value, alone);
  return {value, {gradient(0, 0), gradient(0, 1)}};
}

TEST(HeldDensity, IsTheDensityWithin) {
  const Point point = at(1, -3);
  EXPECT_EQ(point.value, -8);
  EXPECT_EQ(point.slope[0], 2);
  EXPECT_EQ(point.slope[1], 3);
}

TEST(HeldDensity, KeepsItsValueAlongEachRayBeyond) {
  const double radius = held_radius(2);
  const Point edge = at(0.6 * radius, -0.8 * radius);
  for (const double further : {1.5, 10.0, 1e200}) {
    EXPECT_NEAR(at(0.6 * radius * further, -0.8 * radius * further).value, edge.value, 1e-12) << further;
  }
}

TEST(HeldDensity, HasTheGradientOfItsDifferences) {
  for (const double z1 : {0.5, 3.0, 7.0}) {
    constexpr double z2 = -4.5, h = 1e-5;
    const Point point = at(z1, z2);
    EXPECT_NEAR(point.slope[0], (at(z1 + h, z2).value - at(z1 - h, z2).value) / (2 * h), 1e-7) << z1;
    EXPECT_NEAR(point.slope[1], (at(z1, z2 + h).value - at(z1, z2 - h).value) / (2 * h), 1e-7) << z1;
  }
}

}  // namespace
}  // namespace catena::compose::held_density_test

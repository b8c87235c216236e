// A held density is the density where z was trained and keeps its value at the edge beyond.
#include "catena/compose/held_density.h"

#include <gtest/gtest.h>

namespace catena::compose {
namespace {

/// Σ_i z_i²: what no prior can hold.
class Growing final : public SeriesDensity {
 public:
  std::size_t dimension() const override { return 2; }
  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override {
    for (std::size_t i = 0; i < z.rows; ++i) {
      out[i] = z(i, 0) * z(i, 0) + z(i, 1) * z(i, 1);
      if (gradient.rows == 0) continue;
      for (std::size_t f = 0; f < 2; ++f) gradient(i, f) = 2 * z(i, f);
    }
  }
};

TEST(HeldDensity, IsTheDensityWithinAndConstantBeyond) {
  const auto held = held_density(std::make_unique<Growing>(), 3);
  EXPECT_EQ(held->dimension(), 2U);
  Matrix z(4, 2);
  const std::vector<double> points{1, -2, 3, -3, 3.5, -2, -10, 1e30};
  for (std::size_t i = 0; i < 8; ++i) z(i / 2, i % 2) = points[i];
  std::vector<double> value(4), alone(4);
  Matrix gradient(4, 2);
  held->evaluate(z, value, gradient);
  held->evaluate(z, alone, {});
  EXPECT_EQ(value, (std::vector<double>{5, 18, 13, 18}));
  EXPECT_EQ(alone, value);
  const std::vector<double> slopes{2, -4, 6, -6, 0, -4, 0, 0};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(gradient(i / 2, i % 2), slopes[i]) << i;
}

}  // namespace
}  // namespace catena::compose

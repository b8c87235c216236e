#include "catena/sample/mcmc/start/modes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "catena/sample/mcmc/kernels/cloud_proposals.h"
#include "sample/mcmc_targets.h"

namespace catena::sample::modes_test {
namespace {

Matrix draws_of(const KnownTarget& known, std::size_t n, std::uint64_t seed) {
  Matrix points(n, known.dimension);
  Stream stream = Streams(seed).stream("points");
  for (std::size_t r = 0; r < n; ++r) known.draw(stream, points.row(r));
  return points;
}

TEST(Modes, OfAGaussianAreOne) {
  for (const std::size_t d : {1, 2, 8}) {
    for (const std::size_t n : {50, 400, 1000}) {
      EXPECT_EQ(find_modes(draws_of(correlated_gaussian(d, 0.9), n, n), 12).all.size(), 1U) << d << " " << n;
    }
  }
}

/// Weights 0.7 and 0.3 at ±1.2 with deviation 0.15; 400 points: 4.5 standard errors.
TEST(Modes, OfTwoAreFoundWithTheirWeightsAndWidths) {
  constexpr std::size_t n = 400;
  for (const std::size_t d : {1, 2, 5}) {
    const Matrix points = draws_of(two_modes(d), n, 3);
    Modes modes = find_modes(points, 12);
    ASSERT_EQ(modes.all.size(), 2U) << d;
    const std::size_t right = modes.all[0].shape.mean[0] > 0 ? 0 : 1;
    EXPECT_NEAR(modes.all[right].weight, 0.7, 4.5 * std::sqrt(0.21 / n));
    EXPECT_NEAR(modes.all[0].weight + modes.all[1].weight, 1, 1e-12);
    for (std::size_t r = 0; r < n; ++r) EXPECT_EQ(modes.of[r] == right, points(r, 0) > 0);
    for (const std::size_t j : {right, 1 - right}) {
      const double size = modes.all[j].weight * n;
      for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(d); ++i) {
        EXPECT_NEAR(modes.all[j].shape.mean[i], j == right ? 1.2 : -1.2, 4.5 * 0.15 / std::sqrt(size));
        EXPECT_NEAR(modes.all[j].shape.lower.row(i).norm(), 0.15, 4.5 * 0.15 / std::sqrt(2 * size));
      }
    }
  }
}

/// Four modes at the corners of a square, as the signs of two parameters make them, and of very different weight.
TEST(Modes, AtTheCornersOfASquareAreFound) {
  Stream stream = Streams(4).stream("points");
  Matrix points(600, 2);
  std::vector<int> corner(600);
  for (std::size_t r = 0; r < 600; ++r) {
    const double u = stream.uniform();
    corner[r] = u < 0.05 ? 0 : u < 0.2 ? 1 : u < 0.5 ? 2 : 3;
    points(r, 0) = (corner[r] % 2 == 0 ? -1 : 1) + 0.1 * stream.normal();
    points(r, 1) = (corner[r] / 2 == 0 ? -1 : 1) + 0.03 * stream.normal();
  }
  const Modes modes = find_modes(points, 12);
  ASSERT_EQ(modes.all.size(), 4U);
  for (std::size_t r = 0; r < 600; ++r) {
    for (std::size_t k = 0; k < r; ++k) ASSERT_EQ(modes.of[r] == modes.of[k], corner[r] == corner[k]);
  }
}

TEST(Modes, OfAPopulationOfFewPointsStayApartFromEachOther) {
  // A resampled population: every point five times. A component may not collapse onto one of them.
  const Matrix few = draws_of(correlated_gaussian(2, 0.5), 40, 5);
  Matrix points(200, 2);
  for (std::size_t r = 0; r < 200; ++r) std::ranges::copy(few.row(r % 40), points.row(r).begin());
  for (const Mode& mode : find_modes(points, 12).all) {
    EXPECT_GT(mode.shape.lower(0, 0), 0.05);
    EXPECT_GT(mode.shape.lower(1, 1), 0.05 * 0.2);
  }
}

TEST(Modes, OfPointsThatAreAllTheSameAreOne) {
  Matrix points(10, 2);
  for (double& value : points.values()) value = 0.3;
  EXPECT_EQ(find_modes(points, 12).all.size(), 1U);
}

/// ∫ q = 1 for the mixture of t, whose density is known up to one constant: the ratio of log_independent to an estimate
/// of it by counting draws is the same in both modes. 40,000 draws, of which some 800 in the smaller box.
TEST(CloudProposals, DrawsIndependentlyAsItsDensitySays) {
  const CloudProposals proposals(draws_of(two_modes(1), 400, 6), 12);
  ASSERT_EQ(proposals.modes().size(), 2U);
  Stream stream = Streams(7).stream("draws");
  constexpr int n = 40'000;
  int left = 0, right = 0;
  for (int k = 0; k < n; ++k) {
    double z = 0;
    proposals.independent({&z, 1}, stream);
    left += std::abs(z + 1.2) < 0.02;
    right += std::abs(z - 1.3) < 0.02;
  }
  const double at_left = -1.2, at_right = 1.3;
  const double expected = proposals.log_independent({&at_left, 1}) - proposals.log_independent({&at_right, 1});
  // The density changes by some per cent within a box.
  EXPECT_NEAR(std::log(double(left) / right), expected, 4.5 * std::sqrt(1.0 / left + 1.0 / right) + 0.02);
}

}  // namespace
}  // namespace catena::sample::modes_test

/// Densities of draws for pictures: a Gaussian kernel estimate on a grid, in one and in two dimensions, and the heights
/// above which a given share of the probability lies (highest-density regions). An end of the draws' range at which
/// they are still dense is taken for a border of the prior: the estimate is reflected there and does not leak out.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace catena::report {

/// The bandwidth of one parameter: Botev, Grotowski and Kroese (2010, docs/refs.bib: botev2010), who let the data find
/// out how rough their density is, so that modes stay apart; kept between a quarter of Silverman's rule of thumb and
/// the rule itself. 0 if the values do not vary.
double bandwidth(std::span<const double> values);

/// Pearson's; 0 if one of them does not vary.
double correlation(std::span<const double> x, std::span<const double> y);

/// The cells [low, high] is cut into; values belong to the middle of a cell.
struct Grid {
  double low = 0, high = 1;
  std::size_t cells = 1;
  bool reflect_low = false, reflect_high = false;  ///< a border of the prior

  double width() const { return (high - low) / static_cast<double>(cells); }
  double middle(std::size_t i) const { return low + (static_cast<double>(i) + 0.5) * width(); }
};

struct Density {
  Grid grid;
  std::vector<double> height;  ///< integrates to 1
};

/// Values that vary, at least two of them.
Density density(std::span<const double> values, std::size_t cells = 128);

struct Density2 {
  Grid x, y;
  std::vector<double> height;  ///< [y cell][x cell], row-major

  double at(std::size_t iy, std::size_t ix) const { return height[iy * x.cells + ix]; }
};

/// Pairs (x_k, y_k), both coordinates varying. Where regions of 50 or 90 % would have islands or holes that are too
/// small to be structure, the kernel is widened until they have none, at most to 2.4 times its width.
Density2 density(std::span<const double> x, std::span<const double> y);

/// The height c with ∫_{p > c} p = share: what lies above it is the smallest region of that probability.
double height_of_region(std::span<const double> height, double share);

}  // namespace catena::report

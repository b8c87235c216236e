#include "catena/report/contour.h"

#include <algorithm>
#include <array>
#include <map>

namespace catena::report {

namespace {

/// The density with a rim of zeros around it; corner (i, j) is cell (i−1, j−1).
class Corners {
 public:
  explicit Corners(const Density2& density) : density_(density) {}

  std::size_t columns() const { return density_.x.cells + 2; }
  std::size_t rows() const { return density_.y.cells + 2; }
  double value(std::size_t i, std::size_t j) const {
    const bool rim = i == 0 || j == 0 || i > density_.x.cells || j > density_.y.cells;
    return rim ? 0 : density_.at(j - 1, i - 1);
  }
  Point position(std::size_t i, std::size_t j) const { return {along(density_.x, i), along(density_.y, j)}; }

 private:
  static double along(const Grid& grid, std::size_t i) {
    return grid.low + (static_cast<double>(i) - 0.5) * grid.width();
  }
  const Density2& density_;
};

/// A side between two neighbouring corners: to the right of (i, j), or above it.
struct Side {
  std::size_t i, j;
  bool upwards;
  auto operator<=>(const Side&) const = default;
};

Point crossing(const Corners& corners, const Density2& density, const Side& side, double level) {
  const std::size_t i2 = side.upwards ? side.i : side.i + 1, j2 = side.upwards ? side.j + 1 : side.j;
  const double a = corners.value(side.i, side.j), b = corners.value(i2, j2);
  const double s = (level - a) / (b - a);
  const Point p = corners.position(side.i, side.j), q = corners.position(i2, j2);
  return {std::clamp(p.x + s * (q.x - p.x), density.x.low, density.x.high),
          std::clamp(p.y + s * (q.y - p.y), density.y.low, density.y.high)};
}

}  // namespace

std::vector<Ring> outline(const Density2& density, double level) {
  const Corners corners(density);
  std::map<Side, Side> next;  // each crossing leads to one other, with the region on the left
  for (std::size_t j = 0; j + 1 < corners.rows(); ++j) {
    for (std::size_t i = 0; i + 1 < corners.columns(); ++i) {
      // Counter-clockwise from the lower left; side k lies between corner k and corner k+1.
      const std::array<double, 4> value{corners.value(i, j), corners.value(i + 1, j), corners.value(i + 1, j + 1),
                                        corners.value(i, j + 1)};
      const std::array<Side, 4> side{Side{i, j, false}, Side{i + 1, j, true}, Side{i, j + 1, false}, Side{i, j, true}};
      std::vector<std::size_t> leaving, entering;  // walking around the cell: where the region ends, where it begins
      for (std::size_t k = 0; k < 4; ++k) {
        const bool here = value[k] > level, there = value[(k + 1) % 4] > level;
        if (here && !there) leaving.push_back(k);
        if (!here && there) entering.push_back(k);
      }
      // The line goes from where the region ends to where it began: with two of each the cell is a saddle, and its
      // middle decides whether the two corners are joined.
      const bool joined = (value[0] + value[1] + value[2] + value[3]) / 4 > level;
      for (const std::size_t from : leaving) {
        const auto before = [&](std::size_t k) { return (from + 4 - k) % 4; };
        const auto after = [&](std::size_t k) { return (k + 4 - from) % 4; };
        const std::size_t to =
            joined ? *std::ranges::min_element(entering, {}, after) : *std::ranges::min_element(entering, {}, before);
        next.insert({side[from], side[to]});
      }
    }
  }
  std::vector<Ring> rings;
  while (!next.empty()) {
    Ring ring;
    for (auto at = next.begin(); at != next.end();) {
      const Side to = at->second;
      ring.push_back(crossing(corners, density, at->first, level));
      next.erase(at);
      at = next.find(to);
    }
    if (ring.size() < 3) continue;
    ring.push_back(ring.front());
    rings.push_back(std::move(ring));
  }
  return rings;
}

Ring fillable(const std::vector<Ring>& rings) {
  Ring path;
  for (const Ring& ring : rings) {
    path.insert(path.end(), ring.begin(), ring.end());
    path.push_back(rings.front().front());
  }
  return path;
}

}  // namespace catena::report

/// The outline of { p > level } on a grid, by marching squares with linear interpolation. Every outline is closed, also
/// along the grid's edge, and has the region on its left, so that holes run the other way round than what they are in.
#pragma once

#include <vector>

#include "catena/report/kernel_density.h"

namespace catena::report {

struct Point {
  double x = 0, y = 0;
};

using Ring = std::vector<Point>;  ///< its first point is repeated at the end

std::vector<Ring> outline(const Density2& density, double level);

/// All rings as one path that can be filled: from each ring it goes back to the first point, and the way there and the
/// way back cancel. With the non-zero rule holes stay empty, since they turn the other way.
Ring fillable(const std::vector<Ring>& rings);

}  // namespace catena::report

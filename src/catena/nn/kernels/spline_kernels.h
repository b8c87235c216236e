/// The inner loops of monotone splines, dispatched at run time like kernels.h: one lane of a block in each lane of a
/// vector. The formulas of a bin stand in rational_quadratic.h; called by ops/rational_quadratic.cpp.
#pragma once

#include "catena/core/array.h"

namespace catena::nn::kernels {

struct Spline {
  std::size_t bins;
  double bound;

  /// Raw parameters of one coordinate.
  std::size_t parameters() const { return 3 * bins - 1; }
  /// Floats of memory that a call needs: shares of widths and heights as doubles, in eight lanes at most.
  std::size_t scratch() const { return 2 * bins * 16; }
};

/// From raw parameters (coordinate by coordinate) and v, n features, to f(v) and then log f'(v), 2n features.
/// `partials` (null: not wanted) takes, for each coordinate, ∂f by its parameters and by v, and then ∂ log f'.
void spline_forward(const Spline& spline, const ConstBlock& raw, const ConstBlock& v, const Block& output,
                    const Block& partials, float* scratch);

/// out = g_value ∂f + g_slope ∂log f', or added to what is there: one parameter of one coordinate, all lanes.
void spline_reverse(const float* g_value, const float* by_value, const float* g_slope, const float* by_slope,
                    std::size_t lanes, bool accumulate, float* out);

}  // namespace catena::nn::kernels

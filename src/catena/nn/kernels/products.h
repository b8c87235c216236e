/// The matrix products of dense layers on lane blocks, in register tiles, dispatched at run time.
///
/// Why not a BLAS: Debian's OpenBLAS 0.3.21 does not know newer x86 cores (Emerald Rapids) and then falls back to code
/// for the Pentium 4, at a seventh of the speed of these tiles (benchmarks/compare/products.cpp); and rows of lanes
/// need no packing, because both operands are already laid out as the tiles read them.
#pragma once

#include <cstddef>

#include "catena/core/array.h"

namespace catena::nn::kernels {

/// A small matrix by its elements: element (i, k) stands at data[i·row_step + k·col_step]. Transposing swaps the steps.
struct Coefficients {
  const float* data;
  std::size_t rows, cols, row_step, col_step;
};

/// y = A x + b + z; b and z with null data are left out, and z may be y. x: [cols × lanes], y and z: [rows × lanes].
/// Views are references here and in norm_kernels.h: a copy of a view that was just made waits until everything that was
/// stored before has reached the cache (no store forwarding), which costs a residual layer speed.
void product(const Coefficients& a, const ConstBlock& x, const float* b, const ConstBlock& z, const Block& y);

/// w_ik = Σ_l g_il x_kl, or w_ik += …, over exactly the lanes that count; w_ik stands at w[i·step + k].
void outer_product(const ConstBlock& g, const ConstBlock& x, float* w, std::size_t step, bool accumulate);
/// Likewise into a whole matrix, row-major [g.features × x.features].
inline void outer_product(const ConstBlock& g, const ConstBlock& x, float* w, bool accumulate) {
  outer_product(g, x, w, x.features, accumulate);
}

}  // namespace catena::nn::kernels

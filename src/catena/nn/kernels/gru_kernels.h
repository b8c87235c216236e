/// The inner loops of a gated recurrent unit, dispatched at run time like kernels.h. Called by ops/gru.cpp, which has
/// the formulas.
#pragma once

#include "catena/core/array.h"

namespace catena::nn::kernels {

/// out = h + m (1 − z)(n − h), with m one number per lane; m = 1 if null.
void gru_state(const ConstBlock& h, const ConstBlock& z, const ConstBlock& n, const ConstBlock& m, const Block& out);

/// One step back. From g = ∂L/∂h' = g_output + g_later to the gradients of what the gates' functions are applied to
/// (rows r, z, n of `gates`), of u, of m (unless null; added to if `accumulate_m`) and of h as far as it enters
/// directly, which takes the place of g_later.
///
///   a_n = g m (1 − z)(1 − n²),  a_z = g m (h − n) z(1 − z),  a_r = a_n u r(1 − r),  g_u = a_n r,
///   g_h = g (1 − m (1 − z)),    g_m = Σ_features g (1 − z)(n − h)
struct GruReverse {
  ConstBlock r, z, n, u, h, m;
  ConstBlock g_output;
  Block g_later;
  Block gates, g_u, g_m;
  bool accumulate_m;
};
void gru_reverse(const GruReverse& call);

}  // namespace catena::nn::kernels

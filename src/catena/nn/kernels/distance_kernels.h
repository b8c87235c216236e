/// The inner loops of distances between lanes, dispatched at run time like kernels.h. Called by
/// ops/distance_correlation.cpp, which has the formulas. What they write beyond the last lane means nothing.
#pragma once

#include "catena/core/array.h"

namespace catena::nn::kernels {

/// out_l = ‖x_l − x_i‖ over the features, for every lane l.
void distances_from(const ConstBlock& x, std::size_t i, float* out);

/// out_fl += weight_l (x_fl − x_fi) for every lane l.
void add_differences_from(const ConstBlock& x, std::size_t i, const float* weight, const Block& out);

}  // namespace catena::nn::kernels

/// The inner loops of group norm, dispatched at run time like kernels.h. Called by ops/group_norm.cpp.
#pragma once

#include <cstddef>

#include "catena/core/array.h"

namespace catena::nn::kernels {

/// Feature p·channels + c is channel c at place p; a group is channels/groups neighbouring channels at all places.
struct ChannelGroups {
  std::size_t places, channels, groups;
};

/// x̂ = (x − mean)/√(variance + ε) over each group of each lane, y_pc = γ_c x̂_pc + β_c. Keeps x̂ and, one row per group,
/// 1/√(variance + ε), unless null.
struct GroupNormCall {
  ChannelGroups shape;
  ConstBlock x;
  const float *gamma, *beta;
  float epsilon;
  Block y, normalised, inverse_deviation;
};
void normalise_groups(const GroupNormCall& call);

/// out_pc (+)= a_c (w_pc − mean(w) − x̂_pc mean(w x̂))/√(variance + ε) with w_pc = b_c v_pc, means over the group: the
/// derivative of x̂, which is symmetric. Null factors a, b are ones: the gradient has b = γ, the tangent a = γ.
struct GroupNormDerivative {
  ChannelGroups shape;
  ConstBlock v, normalised, inverse_deviation;
  const float *before, *after;  // b, a
  Block out;
  bool accumulate;
};
void differentiate_groups(const GroupNormDerivative& call);

}  // namespace catena::nn::kernels

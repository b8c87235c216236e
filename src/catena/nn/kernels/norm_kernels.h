/// The inner loops of layer norm and of the residual layers that end with one, dispatched at run time like kernels.h.
/// Called by ops/norm.cpp and ops/residual.cpp.
#pragma once

#include <algorithm>
#include <cstddef>

#include "catena/core/array.h"

namespace catena::nn::kernels {

/// r = gelu(u + b) + h and slope = gelu'(u + b), unless null. r may be u. `next` is what the caller writes next: it is
/// fetched into the first cache meanwhile.
void gelu_add(const ConstBlock& u, const float* b, const ConstBlock& h, const Block& r, const Block& slope,
              const Block& next);

/// y = γ x̂ + β with x̂ = (r − mean)/√(variance + ε) over the features of each lane. Keeps x̂ and 1/√(variance + ε)
/// unless null. y may be r.
struct NormCall {
  ConstBlock r;
  const float *gamma, *beta;
  float epsilon;
  Block y, normalised, inverse_deviation;
};
void normalise(const NormCall& call);

/// Sums over lanes that are not yet summed across a vector: 16 floats for each feature of γ, β and b.
constexpr std::size_t norm_partial_floats(std::size_t features) { return 3 * features * 16; }
struct NormSums {
  std::size_t features;
  float *gamma, *beta, *b;

  /// Zeros, in scratch of norm_partial_floats(features).
  NormSums(float* scratch, std::size_t count)
      : features(count), gamma(scratch), beta(scratch + count * 16), b(scratch + 2 * count * 16) {
    std::fill_n(scratch, norm_partial_floats(count), 0.0F);
  }
};

/// The reverse of both, from g = ∂L/∂y; without slope, u is r. Gradients with null data are not wanted; `add_*` says
/// whether to add or to write. The gradient of r may take the place of g, that of u the place of the slope.
struct NormReverseCall {
  ConstBlock g, slope, normalised, inverse_deviation;
  const float* gamma;
  Block u, e, r;  // gradients; e is another place for that of u
  bool add_u, add_e, add_r;
  NormSums sums;  // added to
};
void normalise_reverse(const NormReverseCall& call);
/// Adds the sums to the gradients of b, γ and β (null: not wanted).
void add_norm_sums(const NormSums& sums, float* b, float* gamma, float* beta);

/// The tangent of y from the tangents of u, e, h (null data: zero; without slope, u is r).
void normalise_tangent(ConstBlock slope, ConstBlock normalised, ConstBlock inverse_deviation, const float* gamma,
                       ConstBlock u, ConstBlock e, ConstBlock h, Block y);

}  // namespace catena::nn::kernels

/// The vectorised inner loops of the operations, dispatched to the machine's instruction set at run time. All work on
/// rows of lanes and may touch memory up to the next multiple of 16 lanes; what is summed across lanes stops at
/// `lanes`.
#pragma once

#include <algorithm>
#include <cstddef>

#include "catena/core/array.h"

namespace catena::nn::kernels {

enum class Activation { identity, gelu, silu, tanh, sigmoid, softplus, exp, log };

/// y = f(x + e), slope = f'(x + e); e and slope with null data are left out.
void activate(Activation f, ConstBlock x, ConstBlock e, Block y, Block slope);

/// out = x·y, or out += x·y.
void multiply(ConstBlock x, ConstBlock y, Block out, bool accumulate);
/// out = α x, or out += α x. Blocks of the same size; x may have one lane only, which is then repeated.
void scale(float alpha, ConstBlock x, Block out, bool accumulate);
/// out_f = x_f + α y_f
void add_scaled(ConstBlock x, float alpha, ConstBlock y, Block out);
/// Every lane of feature f = values[f].
void fill_rows(const float* values, Block out);
/// out_fl = x_fl + b_f
void add_bias(ConstBlock x, const float* bias, Block out);
/// sums[f] += Σ_l x_fl
void add_row_sums(ConstBlock x, float* sums);
/// sums[f] += Σ_l x_fl y_fl
void add_row_dots(ConstBlock x, ConstBlock y, float* sums);
/// out_0l (+)= Σ_f x_fl y_fl
void dot_features(ConstBlock x, ConstBlock y, Block out, bool accumulate);
/// out_fl (+)= s_0l x_fl
void scale_lanes(ConstBlock s, ConstBlock x, Block out, bool accumulate);

/// y = γ x̂ + β with x̂ = (r − mean)/√(variance + ε) over the features of each lane, where r = f(u + b) + h with
/// f GELU or the identity; null pointers drop b and h. The forward pass keeps slope = f'(u + b), x̂ and 1/√(variance +
/// ε) unless null. y or slope may be u.
struct NormCall {
  bool gelu;
  ConstBlock u;
  const float* b;
  ConstBlock h;
  const float *gamma, *beta;
  float epsilon;
  Block y, slope, normalised, inverse_deviation;
};
void activate_add_normalise(const NormCall& call);

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

/// The reverse of it, from g = ∂L/∂y. Gradients with null data are not wanted; `add_*` says whether to add or write.
struct NormReverseCall {
  ConstBlock g, slope, normalised, inverse_deviation;
  const float* gamma;
  Block u, e, h;  // gradients; e is another place for that of u
  bool add_u, add_e, add_h;
  NormSums sums;  // added to
};
void activate_add_normalise_reverse(const NormReverseCall& call);
/// Adds the sums to the gradients of b, γ and β (null: not wanted).
void add_norm_sums(const NormSums& sums, float* b, float* gamma, float* beta);

/// The tangent of y from the tangents of u, e, h (null data: zero).
void activate_add_normalise_tangent(ConstBlock slope, ConstBlock normalised, ConstBlock inverse_deviation,
                                    const float* gamma, ConstBlock u, ConstBlock e, ConstBlock h, Block y);

/// cos and sin of 2π w_k x: rows 0 … K−1 and K … 2K−1; derivatives with respect to x go to slope unless null.
void fourier(const float* frequencies, ConstBlock x, Block y, Block slope);

/// out_f0 = log Σ_l e^(x_fl)
void logsumexp_rows(ConstBlock x, Block out);
/// out_fl (+)= g_f e^(x_fl − y_f) with y = logsumexp_rows(x): its gradient
void softmax_scaled(ConstBlock x, ConstBlock y, ConstBlock g, Block out, bool accumulate);
/// out_f0 = Σ_l e^(x_fl − y_f) t_fl: its tangent
void softmax_dot(ConstBlock x, ConstBlock y, ConstBlock t, Block out);

/// The name of the instruction set in use ("AVX3").
const char* target_name();

}  // namespace catena::nn::kernels

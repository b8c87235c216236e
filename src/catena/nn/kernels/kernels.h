/// The vectorised inner loops of the operations, dispatched to the machine's instruction set at run time. All work on
/// rows of lanes and may touch memory up to the next multiple of 16 lanes; what is summed across lanes stops at
/// `lanes`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "catena/core/array.h"

namespace catena::nn::kernels {

enum class Activation { identity, gelu, silu, tanh, sigmoid, softplus, relu, exp, log };

/// y = f(x + e), slope = f'(x + e); e and slope with null data are left out.
void activate(Activation f, ConstBlock x, ConstBlock e, Block y, Block slope);

/// out = x·y, or out += x·y.
void multiply(ConstBlock x, ConstBlock y, Block out, bool accumulate);
/// y ← x·y, and out = x·y or out += x·y; out may be x.
void multiply_both(ConstBlock x, Block y, Block out, bool accumulate);
/// out = α x, or out += α x. Blocks of the same size; x may have one lane only, which is then repeated.
void scale(float alpha, ConstBlock x, Block out, bool accumulate);
/// out_f = x_f + α y_f
void add_scaled(ConstBlock x, float alpha, ConstBlock y, Block out);
/// out = Σ x, or out += Σ x: the x one after the other, and then what was there.
void add_blocks(std::span<const ConstBlock> x, const Block& out, bool accumulate);
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

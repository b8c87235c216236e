/// The loops of the C2ST's perceptron (mlp_classifier.cpp), vectorised and dispatched at run time. Its matrices are
/// tiny (10·d wide), so that bias, rectifier and mask are fused into products whose tiles stay in registers; calls of
/// a BLAS spend more on packing. Blocks are [features × lanes] (core/array.h), one row of the batch per lane.
#pragma once

#include <cstddef>
#include <span>

#include "catena/core/array.h"

namespace catena::evaluate::kernels {

/// out[o, l] = Σᵢ W[o, i] in[i, l] + bias[o], and max(0, ·) of it if `rectify`. W is [outputs × inputs], row-major.
void dense(const float* weights, const float* bias, ConstBlock in, bool rectify, Block out);

/// out[i, l] = Σₒ W[o, i] delta[o, l] where hidden[i, l] > 0, else 0.
void dense_back(const float* weights, ConstBlock delta, ConstBlock hidden, Block out);

/// weight_gradient[o, i] = Σₗ delta[o, l] in[i, l], bias_gradient[o] = Σₗ delta[o, l]. The padding of `delta` must be 0
/// and that of `in` finite.
void dense_gradient(ConstBlock delta, ConstBlock in, float* weight_gradient, float* bias_gradient);

/// One step of Adam on parameters w with gradient g = gradient·scale + decay·w:
/// m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²,  w ← w − rate·m/(√v + ε).
struct AdamStep {
  float rate, beta1, beta2, epsilon, scale, decay;
};
void adam(const AdamStep& step, std::span<const float> gradient, std::span<float> mean, std::span<float> square,
          std::span<float> parameters);

}  // namespace catena::evaluate::kernels

/// What the operations with a layer norm keep from the forward pass.
#pragma once

#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

/// Under the root, as in the paper's code: a constant vector must not divide by zero.
constexpr float norm_epsilon = 1e-6F;

/// Slope f' [features], x̂ [features], 1/√(variance + ε) [1].
template <class T>
struct NormSaved {
  BasicBlock<T> slope, normalised, inverse_deviation;

  static std::size_t features(std::size_t of_the_norm) { return 2 * of_the_norm + 1; }

  explicit NormSaved(BasicBlock<T> saved) {
    if (saved.data == nullptr) return;
    const std::size_t count = (saved.features - 1) / 2;
    slope = rows(saved, 0, count);
    normalised = rows(saved, count, count);
    inverse_deviation = rows(saved, 2 * count, 1);
  }
};

}  // namespace catena::nn::ops

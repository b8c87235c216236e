/// What the operations with a layer norm keep from the forward pass.
#pragma once

#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

/// Under the root, as in the paper's code: a constant vector must not divide by zero.
constexpr float norm_epsilon = 1e-6F;

/// x̂ [features], 1/√(variance + ε) [1] and, with an activation before the norm, its slope f' [features].
template <class T>
struct NormSaved {
  BasicBlock<T> normalised, inverse_deviation, slope;

  static std::size_t features(std::size_t of_the_norm, bool with_slope) {
    return (with_slope ? 2 : 1) * of_the_norm + 1;
  }

  static std::size_t slope_row(std::size_t of_the_norm) { return of_the_norm + 1; }

  /// All null if nothing is saved.
  NormSaved(const BasicBlock<T>& saved, std::size_t of_the_norm)
      : normalised(part(saved, 0, of_the_norm)),
        inverse_deviation(part(saved, of_the_norm, 1)),
        slope(part(saved, slope_row(of_the_norm), of_the_norm)) {}

 private:
  static BasicBlock<T> part(const BasicBlock<T>& saved, std::size_t first, std::size_t count) {
    const bool exists = saved.data != nullptr && first + count <= saved.features;
    return {exists ? saved.data + first * saved.stride : nullptr, count, saved.lanes, saved.stride};
  }
};

}  // namespace catena::nn::ops

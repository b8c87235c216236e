/// The density `separable` as compose/ needs it: the sizes of its two parts (separable_gaussian.h).
#pragma once

#include "catena/train/density.h"
#include "catena/train/separable_gaussian.h"

namespace catena::train {

inline constexpr std::string_view separable_name = "separable";
/// Beyond so many coordinates its sums Σ_t ψ_m ψ_mᵀ, and training, are no bargain any more.
inline constexpr std::size_t most_separable_states = 16;

SeparableGaussian separable_gaussian(const DensitySettings& settings, const DensityShape& shape);

}  // namespace catena::train

/// How much training blurs parameters (model/density/blur.h).
#pragma once

#include "catena/train/objective.h"

namespace catena::train {

/// The blurs that training draws: η = σ/m log-uniform between two bounds, τ = η/√(1 + η²). A batch takes an even share.
struct BlurLevels {
  double smallest_eta = 0, largest_eta = 0;
  /// The blur of the i-th example of a part, at place u ∈ (0, 1) of its share.
  double at(const BatchPart& part, std::size_t i, float u) const;
};

}  // namespace catena::train

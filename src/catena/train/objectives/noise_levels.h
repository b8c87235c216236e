/// The noise levels that training draws: quantiles of the distribution of a, of which a batch takes an even share, and
/// what a lane needs at each of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "catena/diffusion/schedule.h"
#include "catena/model/score/network.h"
#include "catena/train/objective.h"

namespace catena::train {

struct NoiseLevel {
  float m, sigma, v, c_in;
  float weight;  // w: w² = λ m²/v²
  float over_m;  // 1/m
  float linear;  // 2 (λ/σ)(m/v)
  float prior;   // y₀/θ_a, where y₀ is the y of the prior's score: 1/m − v/(m (m² + σ²))
};

class NoiseLevels {
 public:
  /// `spacing`: "uniform" in a, or "log" in σ/m from `smallest_eta`. `weight`: λ(a), see ScoreSettings.
  /// `prior_share`: s₀² of the preconditioning (model/score/network.h).
  NoiseLevels(const diffusion::Schedule& schedule, const std::string& spacing, double smallest_eta,
              const std::string& weight, double prior_share);

  /// The level of the i-th example of a part: the i-th of n equal shares of all levels, at place u ∈ (0, 1) of it.
  const NoiseLevel& at(const BatchPart& part, std::size_t i, float u) const {
    const float share = static_cast<float>(levels_.size()) / static_cast<float>(part.size());
    const auto index = static_cast<std::size_t>((static_cast<float>(part.begin + i) + u) * share);
    return levels_[std::min(index, levels_.size() - 1)];
  }

 private:
  std::vector<NoiseLevel> levels_;
};

}  // namespace catena::train

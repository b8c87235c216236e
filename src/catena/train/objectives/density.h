/// What a density of increments is trained on: −log q(x^(t+1) | x^t, z), the mean over transitions (paper section 3.4);
/// or −log q_τ(x^(t+1) | x^t, ẑ), where the parameters are known up to a blur τ only (blur.h).
#pragma once

#include <memory>
#include <optional>

#include "catena/model/density/blur.h"
#include "catena/model/density/inputs.h"
#include "catena/train/choose/decay_search.h"
#include "catena/train/objective.h"
#include "catena/train/objectives/blur_levels.h"

namespace catena::train {

class DensityObjective final : public Objective {
 public:
  DensityObjective(const model::DensitySettings& settings, model::DensityMap map, std::size_t parameters,
                   std::optional<BlurLevels> blur = {});

  const nn::Graph& graph() const override { return density_.graph; }
  nn::Value loss() const override { return density_.loss; }
  /// Densities keep more values for each lane than scores do: twice as many lanes leave the second cache, and a step
  /// takes 5 to 10 % longer (`catena bench --only fnle`).
  std::size_t block_lanes() const override { return 128; }
  void fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const override;

 private:
  void fill_parameters(Block z, const BatchPart& part, Stream& stream) const;

  model::DensityMap map_;
  std::optional<BlurLevels> blur_;
  model::DensityShape shape_;
  model::DensityGraph density_;
};

/// The search over densities and weight decays: the density that the settings name or, if that is auto, gaussian and
/// separable, then mixture. `data` must outlive it.
DecaySearch density_search(const model::DensitySettings& settings, const model::DensityInputSettings& inputs,
                           double decay, const std::string& effort, const LoopSettings& loop, const TrainingData& data,
                           std::optional<BlurLevels> blur = {});

}  // namespace catena::train

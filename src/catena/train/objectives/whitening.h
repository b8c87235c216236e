/// Training of the network that whitens increments (model/whitening.h): the likelihood of a Gaussian.
#pragma once

#include "catena/model/whitening.h"
#include "catena/train/objective.h"

namespace catena::train {

class WhiteningObjective final : public Objective {
 public:
  explicit WhiteningObjective(const model::Features& features)
      : features_(features), network_(model::record_whitening(features)) {}

  const nn::Graph& graph() const override { return network_.graph; }
  nn::Value loss() const override { return network_.loss; }
  void fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const override {
    for (std::size_t i = 0; i < part.count(); ++i) {
      network_.fill_lane(workspace, features_, part.count(), i, part.c(i));
    }
    // A coordinate that never changes has no width, and the likelihood of a Gaussian no bound: noise in its place makes
    // its width one.
    const Block target = workspace.value(network_.increment, part.count());
    for (std::size_t k = 0; k < target.features; ++k) {
      const model::Feature& feature = features_.all()[features_.condition() + k];
      if (feature.low < feature.high) continue;
      for (std::size_t i = 0; i < part.count(); ++i) target(k, i) = static_cast<float>(stream.normal());
    }
  }

 private:
  model::Features features_;
  model::WhiteningGraph network_;
};

}  // namespace catena::train

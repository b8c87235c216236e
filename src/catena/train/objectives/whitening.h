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
  void fill(nn::Workspace& workspace, const BatchPart& part, Stream) const override {
    for (std::size_t i = 0; i < part.count(); ++i) {
      network_.fill_lane(workspace, features_, part.count(), i, part.c(i));
    }
  }

 private:
  model::Features features_;
  model::WhiteningGraph network_;
};

}  // namespace catena::train

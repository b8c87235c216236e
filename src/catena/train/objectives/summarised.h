/// What is learned from series whose summaries are known already: −log of a density that ties them to z
/// (model/posterior/), the mean over series and their shortened copies.
#pragma once

#include <span>

#include "catena/model/posterior/posterior_model.h"
#include "catena/train/objective.h"

namespace catena::train {

class SummarisedObjective final : public Objective {
 public:
  /// Row r of `table` has the summaries of example r; it must outlive this.
  SummarisedObjective(model::SummarisedGraph density, std::span<const float> table)
      : density_(std::move(density)), table_(table) {}

  const nn::Graph& graph() const override { return density_.graph; }
  nn::Value loss() const override { return density_.loss; }
  std::size_t block_lanes() const override { return 128; }  // as DensityObjective has it
  void fill(nn::Workspace& workspace, const BatchPart& part, Stream /*stream*/) const override {
    const std::size_t count = part.count(), summaries = density_.graph.features(density_.summaries);
    gather(workspace.value(density_.z, count), count, 1, [&](std::size_t i) { return part.z(i); });
    gather(workspace.value(density_.summaries, count), count, 1,
           [&](std::size_t i) { return table_.data() + part.order[part.begin + i] * summaries; });
  }

 private:
  model::SummarisedGraph density_;
  std::span<const float> table_;
};

}  // namespace catena::train

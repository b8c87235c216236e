/// What a posterior over whole series is trained on: −log q(z | x⁰, …, x^T), the mean over series and their shortened
/// copies. Its minimum over all q is the posterior itself (papamakarios2016; docs/theory/npe.md, eq. 1).
#pragma once

#include "catena/model/posterior/posterior_model.h"
#include "catena/train/objective.h"

namespace catena::train {

class PosteriorObjective final : public Objective {
 public:
  PosteriorObjective(const model::PosteriorModelSettings& settings, const TrainingData& data);

  const nn::Graph& graph() const override { return posterior_.graph; }
  nn::Value loss() const override { return posterior_.loss; }
  /// All states of a recurrence are kept for its gradient: few lanes, so that they stay in the second cache.
  std::size_t block_lanes() const override { return 64; }
  bool by_length() const override { return true; }
  void fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const override;

 private:
  model::PosteriorGraph posterior_;
  std::size_t longest_;
};

/// The features of the part's series into lanes, time after time, zeros after their ends; and the mask of them.
void fill_series(const BatchPart& part, std::size_t longest, Block series, Block mask);

}  // namespace catena::train

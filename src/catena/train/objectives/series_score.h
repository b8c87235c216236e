/// NSE's estimator: denoising score matching (score.h) given whole series,
///
///   L = E_{z, x^{0:T}, a, ε} λ(a) ‖ s(m z + σ ε, a, x^{0:T}) + ε/σ ‖²,
///
/// the mean over series and their shortened copies.
#pragma once

#include "catena/model/posterior/series_score_model.h"
#include "catena/train/objectives/score.h"

namespace catena::train {

class SeriesScoreObjective final : public ScoreObjective {
 public:
  SeriesScoreObjective(const model::SeriesScoreSettings& settings, const ScoreLossSettings& loss,
                       const TrainingData& data);

  /// As PosteriorObjective has it: the states of a recurrence are kept for its gradient.
  std::size_t block_lanes() const override { return 64; }

 protected:
  void fill_condition(nn::Workspace& workspace, const BatchPart& part) const override;

 private:
  SeriesScoreObjective(model::SeriesScoreGraph graph, const std::string& schedule, const ScoreLossSettings& loss,
                       const TrainingData& data);

  nn::Value series_, mask_;
  std::size_t longest_;
};

}  // namespace catena::train

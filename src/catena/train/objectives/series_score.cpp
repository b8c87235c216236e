#include "catena/train/objectives/series_score.h"

#include "catena/train/objectives/posterior.h"

namespace catena::train {

SeriesScoreObjective::SeriesScoreObjective(const model::SeriesScoreSettings& settings, const ScoreLossSettings& loss,
                                           const TrainingData& data)
    : SeriesScoreObjective(
          model::record_series_score(settings, data.prior().size(), data.features().size(), data.longest()),
          settings.schedule, loss, data) {}

SeriesScoreObjective::SeriesScoreObjective(model::SeriesScoreGraph graph, const std::string& schedule,
                                           const ScoreLossSettings& loss, const TrainingData& data)
    : ScoreObjective(std::move(graph.score), schedule, loss, data.prior().size(), model::papers_prior_share),
      series_(graph.series),
      mask_(graph.mask),
      longest_(data.longest()) {}

void SeriesScoreObjective::fill_condition(nn::Workspace& workspace, const BatchPart& part) const {
  // Lanes of a pair would have the same series: the loss has one lane for each (nse lists no pairing).
  CATENA_ASSERT(lanes_per_example() == 1);
  fill_series(part, longest_, workspace.value(series_, part.count()), workspace.value(mask_, part.count()));
}

}  // namespace catena::train

#include "catena/compose/scores/score_source.h"

#include "catena/compose/scores/blurred_scores.h"
#include "catena/compose/scores/network_scores.h"
#include "catena/model/local_gaussian.h"

namespace catena::compose {
namespace {

template <class M, std::unique_ptr<LocalScores> (*make)(const M&, const ObservedSeries&)>
ScoreSource score_source(std::string_view method) {
  return {method, [](const model::TrainedModel& trained) { return M(trained).settings.schedule; },
          [](const model::TrainedModel& trained, const ObservedSeries& series) { return make(M(trained), series); },
          [](const model::TrainedModel& trained, const ObservedSeries& series) {
            return model::local_gaussian_precisions(M(trained).settings.gaussian_width,
                                                    trained.network("gaussian").weights, trained.source,
                                                    trained.prior.size(), series.c);
          }};
}

}  // namespace

const Registry<ScoreSource>& score_sources() {
  static const Registry<ScoreSource> registry("method with local scores",
                                              {score_source<model::ScoreModel, network_scores>("fnse"),
                                               score_source<model::BlurredModel, blurred_scores>("fnbe")});
  return registry;
}

}  // namespace catena::compose

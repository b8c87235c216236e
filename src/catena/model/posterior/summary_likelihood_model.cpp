#include "catena/model/posterior/summary_likelihood_model.h"

#include "catena/core/check.h"
#include "catena/model/embedding/summaries.h"
#include "catena/nn/layers.h"

namespace catena::model {

SummarisedGraph record_summary_likelihood(const SummaryLikelihoodSettings& settings, std::size_t parameters,
                                          nn::Lanes lanes) {
  check_config("likelihood", settings);
  SummarisedGraph result;
  nn::Graph& graph = result.graph;
  result.summaries = graph.input("summaries", static_cast<std::size_t>(settings.embedding.summaries), lanes);
  result.z = graph.input("z", parameters);
  result.loss = record_flow(graph, affine_transform(), settings.flow(), result.z, nn::repeat(graph, result.summaries));
  return result;
}

SummaryLikelihoodModel::SummaryLikelihoodModel(const TrainedModel& trained)
    : model(&trained.of_method("nle_summary")),
      settings(from_json_part<SummaryLikelihoodSettings>(trained.source, trained.settings)),
      longest(known_longest_series(trained)) {
  settings.choose_summaries(trained.prior.size());
}

std::vector<float> SummaryLikelihoodModel::summaries(ConstMatrixView c) const {
  return summaries_of(*model, "likelihood", settings.embedding, longest, c);
}

}  // namespace catena::model

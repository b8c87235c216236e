#include "catena/model/posterior/series_score_model.h"

#include "catena/core/check.h"
#include "catena/model/embedding/summaries.h"
#include "catena/model/posterior/posterior_model.h"
#include "catena/model/score/conditional_network.h"
#include "catena/nn/layers.h"

namespace catena::model {
namespace {

ConditionalNetworkConfig score_sizes(const SeriesScoreSettings& settings) {
  return {.width = settings.width, .layers = settings.layers, .fourier_features = 16};
}

}  // namespace

SeriesScoreGraph record_series_score(const SeriesScoreSettings& settings, std::size_t parameters, std::size_t features,
                                     std::size_t longest) {
  check_config("score", settings);
  SeriesScoreGraph result;
  nn::Graph& graph = result.score.graph;
  result.series = graph.input("series", {longest, 1, features});
  result.mask = graph.input("mask", {longest, 1, 1});
  result.score.variable = graph.input("variable", parameters);
  result.score.level = graph.input("level", 1);
  const EmbeddingKind& embedding = embeddings().at("score", settings.embedding.embedding);
  result.score.condition = embedding.record(graph, settings.embedding, {result.series, result.mask, longest});
  result.score.y = record_conditional_output(graph, score_sizes(settings), result.score.variable,
                                             result.score.condition, result.score.level);
  return result;
}

ScoreGraph record_score_of_summaries(const SeriesScoreSettings& settings, std::size_t parameters) {
  ScoreGraph result;
  nn::Graph& graph = result.graph;
  result.variable = graph.input("variable", parameters);
  result.condition = graph.input("summaries", static_cast<std::size_t>(settings.embedding.summaries), nn::Lanes::one());
  result.level = graph.input("level", 1, nn::Lanes::one());
  result.y = record_conditional_output(graph, score_sizes(settings), result.variable, result.condition, result.level);
  return result;
}

SeriesScoreModel::SeriesScoreModel(const TrainedModel& trained)
    : model(&trained.of_method("nse")),
      settings(from_json_part<SeriesScoreSettings>(trained.source, trained.settings)),
      schedule(diffusion::schedules().at(trained.source, settings.schedule).schedule),
      longest(known_longest_series(trained)) {}

std::vector<float> SeriesScoreModel::summaries(ConstMatrixView c) const {
  return summaries_of(*model, "score", settings.embedding, longest, c);
}

}  // namespace catena::model

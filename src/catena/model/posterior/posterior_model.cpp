#include "catena/model/posterior/posterior_model.h"

#include <algorithm>

#include "catena/core/check.h"
#include "catena/model/embedding/summaries.h"
#include "catena/nn/layers.h"

namespace catena::model {
namespace {

nn::Value record_flow_of_z(nn::Graph& graph, const PosteriorModelSettings& settings, nn::Value summaries, nn::Value z) {
  return record_flow(graph, spline_transform(), settings.flow(), summaries, z);
}

}  // namespace

PosteriorGraph record_posterior(const PosteriorModelSettings& settings, std::size_t parameters, std::size_t features,
                                std::size_t longest) {
  check_config("posterior", settings);
  PosteriorGraph result;
  nn::Graph& graph = result.graph;
  result.series = graph.input("series", {longest, 1, features});
  result.mask = graph.input("mask", {longest, 1, 1});
  result.z = graph.input("z", parameters);
  const EmbeddingKind& embedding = embeddings().at("posterior", settings.embedding.embedding);
  const nn::Value summaries = embedding.record(graph, settings.embedding, {result.series, result.mask, longest});
  result.loss = record_flow_of_z(graph, settings, summaries, result.z);
  return result;
}

SummarisedGraph record_posterior_flow(const PosteriorModelSettings& settings, std::size_t parameters, nn::Lanes lanes) {
  SummarisedGraph result;
  nn::Graph& graph = result.graph;
  result.summaries = graph.input("summaries", static_cast<std::size_t>(settings.embedding.summaries), lanes);
  result.z = graph.input("z", parameters);
  result.loss = record_flow_of_z(graph, settings, nn::repeat(graph, result.summaries), result.z);
  return result;
}

PosteriorModel::PosteriorModel(const TrainedModel& trained)
    : model(&trained),
      settings(from_json_part<PosteriorModelSettings>(trained.source, trained.settings)),
      longest(known_longest_series(trained)) {}

std::vector<float> PosteriorModel::summaries(ConstMatrixView c) const {
  return summaries_of(*model, "posterior", settings.embedding, longest, c);
}

void PosteriorModel::draw(std::span<const float> summaries, Stream stream, MatrixView z) const {
  Matrix rows(z.rows, summaries.size());
  for (std::size_t r = 0; r < z.rows; ++r) std::ranges::copy(summaries, rows.row(r).begin());
  const auto context = [&](nn::Graph& graph, std::vector<RowInput>& inputs) {
    const nn::Value seen = graph.input("summaries", summaries.size());
    inputs.push_back({seen, rows});
    return seen;
  };
  draw_flow(spline_transform(), settings.flow(), context, weights(), model->source, stream, z);
}

std::size_t longest_series(const TrainedModel& model) {
  const auto series = model.notes.find("series");
  if (series == model.notes.end() || !series->is_object()) return 0;
  const nlohmann::json longest = series->value("longest", nlohmann::json());
  return longest.is_number_unsigned() ? longest.get<std::size_t>() : 0;
}

std::size_t known_longest_series(const TrainedModel& model) {
  const std::size_t longest = longest_series(model);
  if (longest == 0) throw FileError(fmt::format("{}: does not say how long its series were", model.source));
  return longest;
}

}  // namespace catena::model

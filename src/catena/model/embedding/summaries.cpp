#include "catena/model/embedding/summaries.h"

#include <cmath>

namespace catena::model {
namespace {

/// The two as parameters of a graph, so that they are written and checked as weights are.
nn::Graph scale_parameters(std::size_t count) {
  nn::Graph graph;
  graph.parameter({.name = "standard.mean", .rows = count, .cols = 1});
  graph.parameter({.name = "standard.scale", .rows = count, .cols = 1});
  return graph;
}

}  // namespace

SummaryScale::SummaryScale(std::span<const float> table, std::size_t count) : mean(count), scale(count, 1.0F) {
  const std::size_t rows = table.size() / count;
  for (std::size_t f = 0; f < count; ++f) {
    double sum = 0, squares = 0;
    for (std::size_t r = 0; r < rows; ++r) sum += table[r * count + f];
    const double centre = sum / static_cast<double>(rows);
    for (std::size_t r = 0; r < rows; ++r) squares += std::pow(table[r * count + f] - centre, 2);
    mean[f] = static_cast<float>(centre);
    if (squares > 0) scale[f] = static_cast<float>(std::sqrt(squares / static_cast<double>(rows)));
  }
}

SummaryScale::SummaryScale(const NamedWeights& weights, std::size_t count, const std::string& source) {
  const nn::Graph graph = scale_parameters(count);
  const AlignedVector<float> flat = flat_weights(graph, weights, source);
  const auto part = [&](std::size_t p) {
    const auto begin = flat.begin() + static_cast<std::ptrdiff_t>(graph.parameters()[p].offset);
    return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  mean = part(0);
  scale = part(1);
}

void SummaryScale::add_to(NamedWeights& weights) const {
  const std::vector<std::size_t> shape{mean.size(), 1};
  weights.push_back({"standard.mean", shape, mean});
  weights.push_back({"standard.scale", shape, scale});
}

void SummaryScale::apply(std::span<float> summaries) const {
  const std::size_t count = mean.size();
  for (std::size_t k = 0; k < summaries.size(); ++k) {
    summaries[k] = (summaries[k] - mean[k % count]) / scale[k % count];
  }
}

std::vector<float> summaries_of(const TrainedModel& model, const std::string& network,
                                const EmbeddingSettings& settings, std::size_t longest, ConstMatrixView c) {
  const bool own = model.networks.contains(summaries_network);
  const NamedWeights& weights = model.network(own ? summaries_network : network).weights;
  const EmbeddingKind& kind = embeddings().at(model.source, settings.embedding);
  std::vector<float> summaries = kind.embed(settings, longest, c, weights, model.source);
  if (own) SummaryScale(weights, summaries.size(), model.source).apply(summaries);
  return summaries;
}

}  // namespace catena::model

#include "catena/train/objectives/summary.h"

#include <algorithm>
#include <cmath>

#include "catena/model/embedding/summaries.h"
#include "catena/nn/layers.h"
#include "catena/nn/rows.h"
#include "catena/train/choose/effort.h"
#include "catena/train/objectives/posterior.h"

namespace catena::train {
namespace {

// The network g of a slice (the authors' sizes; gloeckler2025): φ stands among its inputs ten times, so that it weighs
// as much as 50 summaries do.
constexpr std::size_t direction_copies = 10, slice_widths[] = {128, 64, 16}, slice_outputs = 2;

nn::Value record_slice(nn::Graph& graph, nn::Value summaries, nn::Value direction) {
  std::vector<nn::Value> seen{summaries};
  seen.insert(seen.end(), direction_copies, direction);
  nn::Value h = nn::concatenate(graph, seen);
  for (const std::size_t width : slice_widths) {
    h = graph.apply("relu", {nn::dense(graph, "slice." + std::to_string(width), h, width)});
  }
  return nn::dense(graph, "slice.out", h, slice_outputs);
}

/// The embedding as training records it.
struct EmbeddingGraph {
  nn::Graph graph;
  nn::Value series, mask, summaries;
};
EmbeddingGraph record_embedding(const model::EmbeddingSettings& settings, const TrainingData& data) {
  EmbeddingGraph result;
  const std::size_t longest = data.longest();
  result.series = result.graph.input("series", {longest, 1, data.features().size()});
  result.mask = result.graph.input("mask", {longest, 1, 1});
  result.summaries = model::embeddings()
                         .at("train", settings.embedding)
                         .record(result.graph, settings, {result.series, result.mask, longest});
  return result;
}

}  // namespace

SummaryObjective::SummaryObjective(const SummarySettings& settings, const model::EmbeddingSettings& embedding,
                                   const TrainingData& data)
    : longest_(data.longest()),
      batch_(std::min(static_cast<std::size_t>(settings.summary_batch), data.training_size())),
      sliced_(settings.summary == "sliced") {
  EmbeddingGraph recorded = record_embedding(embedding, data);
  graph_ = std::move(recorded.graph);
  series_ = recorded.series;
  mask_ = recorded.mask;
  const std::size_t d = data.prior().size();
  target_ = graph_.input("target", sliced_ ? 1 : d);
  nn::Value seen = recorded.summaries;
  if (sliced_) {
    direction_ = graph_.input("direction", d);
    seen = record_slice(graph_, seen, direction_);
  }
  loss_ = nn::scale(graph_, -1, graph_.apply("distance_correlation", {seen, target_}));
}

void SummaryObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream stream) const {
  const std::size_t count = part.count(), d = part.examples.parameters;
  fill_series(part, longest_, workspace.value(series_, count), workspace.value(mask_, count));
  const Block target = workspace.value(target_, count);
  if (!sliced_) {
    gather(target, count, 1, [&](std::size_t i) { return part.z(i); });
    return;
  }
  const Block direction = workspace.value(direction_, count);
  thread_local std::vector<float> normal;
  normal.resize(count * d);
  stream.fill_normal(normal);
  for (std::size_t i = 0; i < count; ++i) {
    const float* phi = normal.data() + i * d;
    double squares = 0, along = 0;
    for (std::size_t f = 0; f < d; ++f) {
      squares += phi[f] * phi[f];
      along += phi[f] * part.z(i)[f];
    }
    const double length = std::max(std::sqrt(squares), 1e-30);
    target(0, i) = static_cast<float>(along / length);
    for (std::size_t f = 0; f < d; ++f) direction(f, i) = static_cast<float>(phi[f] / length);
  }
}

int summary_steps(const SummarySettings& settings, const std::string& effort, const TrainingData& data) {
  const std::size_t batches = data.training_size() / static_cast<std::size_t>(settings.summary_batch);
  return std::max(
      1, chosen_steps(0, settings.summary_epochs * static_cast<int>(std::max<std::size_t>(1, batches)), effort));
}

namespace {

/// s of every example, one a row.
std::vector<float> summaries_of_all(const model::NamedWeights& weights, const model::EmbeddingSettings& embedding,
                                    const TrainingData& data) {
  EmbeddingGraph recorded = record_embedding(embedding, data);
  const std::size_t count = recorded.graph.features(recorded.summaries);
  std::vector<float> table(data.size() * count);
  std::vector<std::size_t> order(data.size());
  for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
  nn::run_rows(
      recorded.graph, model::flat_weights(recorded.graph, weights, "the model"), data.size(),
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        const BatchPart part{data.window(0), order, begin, begin + lanes};
        fill_series(part, data.longest(), workspace.value(recorded.series, lanes),
                    workspace.value(recorded.mask, lanes));
      },
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        nn::lanes_to_rows(workspace.value(recorded.summaries, lanes), begin,
                          BasicMatrixView<float>{table.data(), data.size(), count, count});
      });
  return table;
}

}  // namespace

std::vector<float> train_summaries(model::TrainedModel& model, const SummarySettings& settings,
                                   const model::EmbeddingSettings& embedding, const std::string& effort,
                                   const MethodContext& context) {
  const TrainingData& data = context.data;
  const SummaryObjective objective(settings, embedding, data);
  LoopSettings loop = context.loop;
  loop.steps = summary_steps(settings, effort, data);
  loop.batch_size = settings.summary_batch;
  loop.patience = 1;  // all epochs, of which the best on held-out series is kept
  loop.optimizer.learning_rate = settings.summary_rate;
  loop.optimizer.weight_decay = 0;
  train_networks(model, {{model::summaries_network, objective, loop}}, context);

  model::NamedWeights& weights = model.networks[model::summaries_network].weights;
  const nn::Graph kept = record_embedding(embedding, data).graph;
  weights = model::named_weights(kept, model::flat_weights(kept, weights, model.source));
  std::vector<float> table = summaries_of_all(weights, embedding, data);
  const auto count = static_cast<std::size_t>(embedding.summaries);
  const model::SummaryScale scale(std::span<const float>(table).first(data.training_size() * count), count);
  scale.add_to(weights);
  scale.apply(table);
  return table;
}

}  // namespace catena::train

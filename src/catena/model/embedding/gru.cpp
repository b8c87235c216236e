// A gated recurrent unit that reads the transitions in their order (nn/ops/gru.cpp); its state after the last one is
// the embedding or, with `units`, goes through a layer of as many (ReLU) and a linear one. The paper's reads the states
// x^t (gloeckler2025, appendix D.2); c_t = (x^t, x^(t+1) − x^t, …) has them and their difference, which a short step
// makes small.

#include <algorithm>

#include "catena/model/embedding/embedding.h"
#include "catena/nn/execute.h"
#include "catena/nn/layers.h"
#include "catena/nn/rows.h"
#include "catena/nn/sequences.h"

namespace catena::model {
namespace {

/// A long series is read in pieces of so many transitions, each from the state that the one before ended with.
constexpr std::size_t piece = 64;

std::size_t units_of(const EmbeddingSettings& settings) {
  return static_cast<std::size_t>(settings.units == 0 ? settings.summaries : settings.units);
}

/// The summaries from the state after the last transition.
nn::Value record_after_gru(nn::Graph& graph, const EmbeddingSettings& settings, nn::Value state) {
  if (settings.units == 0) return state;
  return nn::mlp(graph, "after", state, units_of(settings), 1, static_cast<std::size_t>(settings.summaries), "relu");
}

nn::Value record_gru(nn::Graph& graph, const EmbeddingSettings& settings, const EmbeddingInputs& inputs) {
  return record_after_gru(
      graph, settings,
      nn::last_state(graph, nn::gru_layer(graph, "gru", inputs.series, units_of(settings), {.mask = inputs.mask})));
}

std::vector<float> embed_by_gru(const EmbeddingSettings& settings, std::size_t, ConstMatrixView c,
                                const NamedWeights& named, const std::string& source) {
  const std::size_t units = units_of(settings);
  const std::size_t times = std::min(piece, c.rows), features = c.cols;
  nn::Graph graph;
  const nn::Value series = graph.input("series", {times, 1, features}), before = graph.input("state", units),
                  mask = graph.input("mask", {times, 1, 1});
  const nn::Value after =
      nn::last_state(graph, nn::gru_layer(graph, "gru", series, units, {.state = before, .mask = mask}));
  const nn::Value summaries = record_after_gru(graph, settings, after);
  const AlignedVector<float> weights = flat_weights(graph, named, source);
  nn::Workspace workspace(graph, 1, {.keep_values = true});
  std::vector<float> state(units, 0.0F);
  const auto read = [&](nn::Value value) {
    const ConstBlock found = workspace.value(value, 1);
    std::vector<float> result(found.features);
    for (std::size_t f = 0; f < result.size(); ++f) result[f] = found(f, 0);
    return result;
  };
  for (std::size_t begin = 0; begin < c.rows; begin += times) {
    const std::size_t here[] = {std::min(times, c.rows - begin)};
    const Block of_series = workspace.value(series, 1), of_state = workspace.value(before, 1);
    for (std::size_t t = 0; t < times; ++t) {
      for (std::size_t f = 0; f < features; ++f) {
        of_series(t * features + f, 0) = t < here[0] ? static_cast<float>(c(begin + t, f)) : 0.0F;
      }
    }
    for (std::size_t f = 0; f < units; ++f) of_state(f, 0) = state[f];
    nn::fill_mask(here, 1, 1, workspace.value(mask, 1));
    workspace.forward(weights, 1);
    state = read(after);
  }
  return read(summaries);
}

}  // namespace

EmbeddingKind gru_embedding() {
  return {"gru", "a gated recurrent unit that reads the series in its order", /*sums=*/false, record_gru, embed_by_gru};
}

}  // namespace catena::model

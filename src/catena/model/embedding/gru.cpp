// A gated recurrent unit that reads the transitions in their order (nn/ops/gru.cpp); its state after the last one is
// the embedding. The paper's reads the states x^t (gloeckler2025, appendix D.2); c_t = (x^t, x^(t+1) − x^t, …) has them
// and their difference, which a short step makes small.

#include <algorithm>

#include "catena/model/embedding/embedding.h"
#include "catena/nn/execute.h"
#include "catena/nn/rows.h"
#include "catena/nn/sequences.h"

namespace catena::model {
namespace {

/// A long series is read in pieces of so many transitions, each from the state that the one before ended with.
constexpr std::size_t piece = 64;

nn::Value record_gru(nn::Graph& graph, const EmbeddingSettings& settings, const EmbeddingInputs& inputs) {
  return nn::last_state(graph, nn::gru_layer(graph, "gru", inputs.series, static_cast<std::size_t>(settings.summaries),
                                             {.mask = inputs.mask}));
}

std::vector<float> embed_by_gru(const EmbeddingSettings& settings, std::size_t, ConstMatrixView c,
                                const NamedWeights& named, const std::string& source) {
  const auto units = static_cast<std::size_t>(settings.summaries);
  const std::size_t times = std::min(piece, c.rows), features = c.cols;
  nn::Graph graph;
  const nn::Value series = graph.input("series", {times, 1, features}), before = graph.input("state", units),
                  mask = graph.input("mask", {times, 1, 1});
  const nn::Value after =
      nn::last_state(graph, nn::gru_layer(graph, "gru", series, units, {.state = before, .mask = mask}));
  const AlignedVector<float> weights = flat_weights(graph, named, source);
  nn::Workspace workspace(graph, 1, nn::Purpose::inference());
  std::vector<float> state(units, 0.0F);
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
    const ConstBlock found = workspace.value(after, 1);
    for (std::size_t f = 0; f < units; ++f) state[f] = found(f, 0);
  }
  return state;
}

}  // namespace

EmbeddingKind gru_embedding() {
  return {"gru", "a gated recurrent unit that reads the series in its order", /*sums=*/false, record_gru, embed_by_gru};
}

}  // namespace catena::model

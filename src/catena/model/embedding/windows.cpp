// A sum over transitions (the paper's NPE′; gloeckler2025, appendix D.2): with T transitions,
//
//   s = g( Σ_t f(c_t)/L, T/L ),   f: two hidden layers and a linear one,   g: two layers,   ReLU,
//
// L the longest series of the training set, a unit that keeps g's inputs of size one. For a Markov chain nothing is
// lost by the sum if f is rich enough; the order of the transitions is, where there is no such chain.

#include "catena/model/embedding/embedding.h"
#include "catena/nn/layers.h"
#include "catena/nn/rows.h"
#include "catena/nn/sequences.h"

namespace catena::model {
namespace {

constexpr const char* windows_activation = "relu";

/// Σ_t f(c_t) over the places of a series.
nn::Value record_window_sum(nn::Graph& graph, const EmbeddingSettings& settings, nn::Value series, nn::Value mask) {
  return nn::window_sum(graph, "window", series, static_cast<std::size_t>(settings.window_features),
                        {.window = 1,
                         .stride = 1,
                         .width = static_cast<std::size_t>(settings.window_width),
                         .layers = 2,
                         .mask = mask,
                         .activation = windows_activation});
}

/// g of a sum and a number of transitions
nn::Value record_head(nn::Graph& graph, const EmbeddingSettings& settings, std::size_t longest, nn::Value sum,
                      nn::Value count) {
  const nn::Value seen = nn::scale(graph, 1 / static_cast<double>(longest), nn::concatenate(graph, {sum, count}));
  const nn::Value h =
      nn::hidden(graph, "head", seen, static_cast<std::size_t>(settings.head_width), 1, windows_activation);
  return graph.apply(windows_activation,
                     {nn::dense(graph, "head.out", h, static_cast<std::size_t>(settings.summaries))});
}

nn::Value record_windows(nn::Graph& graph, const EmbeddingSettings& settings, const EmbeddingInputs& inputs) {
  return record_head(graph, settings, inputs.longest, record_window_sum(graph, settings, inputs.series, inputs.mask),
                     graph.apply("sum_places", {inputs.mask}));
}

std::vector<float> embed_by_windows(const EmbeddingSettings& settings, std::size_t longest, ConstMatrixView c,
                                    const NamedWeights& named, const std::string& source) {
  const auto features = static_cast<std::size_t>(settings.window_features);
  nn::Graph window;  // one transition a lane
  const nn::Value series = window.input("series", {1, 1, c.cols});
  const nn::Value f = record_window_sum(window, settings, series, {});
  std::vector<double> sum(features, 0.0);
  nn::run_rows(
      window, flat_weights(window, named, source), c.rows,
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        nn::rows_to_lanes(c, begin, workspace.value(series, lanes));
      },
      [&](nn::Workspace& workspace, std::size_t, std::size_t lanes) {
        const ConstBlock values = workspace.value(f, lanes);
        for (std::size_t i = 0; i < features; ++i) {
          for (std::size_t l = 0; l < lanes; ++l) sum[i] += values(i, l);
        }
      });
  nn::Graph head;
  const nn::Value sum_in = head.input("sum", features), count_in = head.input("count", 1);
  const nn::Value s = record_head(head, settings, longest, sum_in, count_in);
  nn::Workspace workspace(head, 1, nn::Purpose::inference());
  for (std::size_t i = 0; i < features; ++i) workspace.value(sum_in, 1)(i, 0) = static_cast<float>(sum[i]);
  workspace.value(count_in, 1)(0, 0) = static_cast<float>(c.rows);
  workspace.forward(flat_weights(head, named, source), 1);
  const ConstBlock found = workspace.value(s, 1);
  std::vector<float> result(found.features);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = found(i, 0);
  return result;
}

}  // namespace

EmbeddingKind windows_embedding() {
  return {"windows", "a network of single transitions, summed over the series", /*sums=*/true, record_windows,
          embed_by_windows};
}

}  // namespace catena::model

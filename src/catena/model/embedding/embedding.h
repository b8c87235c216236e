/// Embeddings: a whole series of any length as a fixed number of numbers, s(x⁰, …, x^T). What they read is the sequence
/// of the series' transitions as every network here sees them, c_1, …, c_T (features.h), standardised. Each is one file
/// and one line of the registry.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/config.h"
#include "catena/core/registry.h"
#include "catena/model/weights.h"
#include "catena/nn/graph.h"

namespace catena::model {

struct EmbeddingSettings {
  std::string embedding = "gru";
  int summaries = 50;
  int units = 0;
  int window_width = 64;
  int window_features = 100;
  int head_width = 100;

  /// `embedding` itself is listed by whoever lets it be chosen.
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.summaries, "summaries", "numbers that the embedding makes of a series", at_least(1));
    list_networks(c, visit);
  }
  /// Without their number.
  template <class Self, class Visit>
  static void list_networks(Self& c, Visit&& visit) {
    visit(c.units, "units",
          "units of the recurrence, with a layer of as many before the summaries (0: its state is the summaries)",
          when("embedding", {"gru"}, at_least(0)));
    visit(c.window_width, "window_width", "units of the two layers that see one transition",
          when("embedding", {"windows"}, at_least(1)));
    visit(c.window_features, "window_features", "numbers of each transition that are summed over the series",
          when("embedding", {"windows"}, at_least(1)));
    visit(c.head_width, "head_width", "units of the layer after the sum", when("embedding", {"windows"}, at_least(1)));
  }
};

/// What an embedding reads of a block of series, one a lane: c_1 … c_T [T, 1, features], zeros after a lane's end, and
/// the mask [T, 1, 1] of the transitions that it has (nn/sequences.h).
struct EmbeddingInputs {
  nn::Value series, mask;
  std::size_t longest = 1;  // of the series that it is trained on: a unit of length
};

struct EmbeddingKind {
  std::string_view name;
  std::string_view help;
  /// A sum over transitions: series of one θ add up, and transitions that are missing are left out of it.
  bool sums;
  nn::Value (*record)(nn::Graph& graph, const EmbeddingSettings& settings, const EmbeddingInputs& inputs);
  /// The same numbers for one series of any length, one transition a row of c.
  std::vector<float> (*embed)(const EmbeddingSettings& settings, std::size_t longest, ConstMatrixView c,
                              const NamedWeights& weights, const std::string& source);
};

const Registry<EmbeddingKind>& embeddings();

EmbeddingKind gru_embedding();
EmbeddingKind windows_embedding();

}  // namespace catena::model

/// What networks see of states that are fields on a grid (frames): a few numbers e(x), the same network for x^t and
/// x^(t+1). The paper's (gloeckler2025, appendix E.5), for c × n × n values of a state:
///
///   convolutions without padding, each but the last with a group norm and GELU; flatten; two dense layers of E, GELU
///   after both:   2 → 64 (6 × 6, stride 2) → 32 (6 × 6, stride 2) → 16 (3 × 3) → 8 (3 × 3),  E = 100.
///
/// Norms forget how large a field is. Beside what the convolutions give, the dense layers therefore see the mean of
/// each channel and of its square, which the paper's do not.
///
/// On small grids the list ends before the layer that would leave fewer than three places a side.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/config.h"
#include "catena/nn/graph.h"

namespace catena::model {

/// A state as channels of rows of columns, in this order in memory: "2x64x64".
struct FrameShape {
  std::size_t channels = 1, y = 1, x = 1;

  std::size_t size() const { return channels * y * x; }
  bool operator==(const FrameShape&) const = default;
  std::string text() const;
  /// Throws "FUNCTION: state_shape is TEXT, but must be …".
  static FrameShape parse(std::string_view function, const std::string& text);
};

struct FrameNetworkSettings {
  FrameNetworkSettings() = default;  // not an aggregate: GCC 12 warns of uninitialised texts in nested aggregates

  std::string embedding = "none";
  std::string state_shape;
  std::string convolutions = "64x6/2,32x6/2,16x3,8x3";
  int groups = 4;
  int embedding_width = 100;
  int embedding_steps = 0;
  double embedding_share = 0.6;
  std::string shifts = "none";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.embedding, "embedding",
          "what networks see of states that are fields on a grid: all values (none), or what a network of convolutions "
          "makes of them (conv)",
          one_of({"none", "conv"}));
    visit(c.state_shape, "state_shape",
          "channels, rows and columns of a state, as 2x64x64 (empty: as the transitions say)",
          when("embedding", {"conv"}, anything()));
    visit(c.convolutions, "convolutions",
          "CHANNELSxKERNEL or CHANNELSxKERNEL/STRIDE of each, with commas; as many as leave three places a side",
          when("embedding", {"conv"}, anything()));
    visit(c.groups, "groups", "groups of channels that are normalised together",
          when("embedding", {"conv"}, at_least(1)));
    visit(c.embedding_width, "embedding_width", "numbers of an embedding, and units of its two dense layers",
          when("embedding", {"conv"}, at_least(2)));
    visit(c.embedding_steps, "embedding_steps", "gradient steps of the embedding (0: 40 passes over the transitions)",
          when("embedding", {"conv"}, at_least(0)));
    visit(
        c.embedding_share, "embedding_share",
        "share of the transitions that the embedding learns from; the networks learn from the others, of which it has "
        "seen as little as of what is observed (1: all from all)",
        when("embedding", {"conv"}, between(0.1, 1.0)));
    visit(c.shifts, "shifts",
          "rows and columns by multiples of which states may be shifted, round the border, and say the same of the "
          "parameters, as 1x8 (none: not at all)",
          when("embedding", {"conv"}, anything()));
  }
  bool used() const { return embedding != "none"; }
};

/// By what multiples frames are shifted in training; 0: not at all.
struct FrameShifts {
  std::size_t y = 0, x = 0;

  bool any() const { return y > 0; }
  /// Throws "FUNCTION: shifts is TEXT, but must be …" unless they divide the shape's rows and columns.
  static FrameShifts parse(std::string_view function, const std::string& text, const FrameShape& shape);
};

struct ConvolutionLayer {
  std::size_t channels = 1, kernel = 1, stride = 1;
};
/// Those of the list that such frames have room for. Throws InputError if the first has none, or for another text.
std::vector<ConvolutionLayer> convolutions_for(std::string_view function, const FrameNetworkSettings& settings,
                                               const FrameShape& shape);

/// e of `frames`, whose places are [y, x, channels].
nn::Value record_frame_embedding(nn::Graph& graph, const FrameNetworkSettings& settings, const FrameShape& shape,
                                 nn::Value frames);
inline nn::Shape places_of(const FrameShape& shape) { return {shape.y, shape.x, shape.channels}; }

/// The head that an embedding is trained with: from the embeddings of two frames to the parameters of a Gaussian of z
/// (nn/gaussian.h).
nn::Value record_frame_head(nn::Graph& graph, const FrameNetworkSettings& settings, std::size_t parameters,
                            nn::Value before, nn::Value after);

}  // namespace catena::model

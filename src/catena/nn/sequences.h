/// Layers over series [time, 1, features], also of different lengths in one block: a mask says which times, or windows
/// of times, each lane has. What stands after a series' end must be finite (zeros, say); it is multiplied by zero.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "catena/nn/graph.h"

namespace catena::nn {

/// How many windows of so many times fit into a series; a new one begins every `stride` times.
constexpr std::size_t window_count(std::size_t times, std::size_t window, std::size_t stride) {
  return times < window ? 0 : (times - window) / stride + 1;
}

/// mask_wl = 1 where window w lies within the first lengths[l] times of lane l, else 0. With windows of one time, the
/// mask of a recurrent layer.
void fill_mask(std::span<const std::size_t> lengths, std::size_t window, std::size_t stride, Block mask);

struct GruOptions {
  Value state = {};  // the state before the series; zero if none is given
  Value mask = {};   // [time, 1, 1]; none: all series are as long as the block
};

/// A gated recurrent unit: all its states, [time, 1, units]. A series in pieces, each with the state that the piece
/// before ended with, has the same states.
Value gru_layer(Graph& graph, const std::string& name, Value series, std::size_t units, GruOptions options = {});

/// The state at the end of the series, of each lane's own with a mask.
Value last_state(Graph& graph, Value states);

struct WindowOptions {
  std::size_t window = 2;  // times that the network sees at once
  std::size_t stride = 1;
  std::size_t width = 50;
  int layers = 2;   // hidden ones
  Value mask = {};  // [window_count, 1, 1]; none: all series are as long as the block
  std::string_view activation = "gelu";
};

/// Σ over the windows of a series of one network: Σ_w f(x^(ws), …, x^(ws + window − 1)). Hidden layers, then a dense
/// layer to `features`; the same weights at every window.
Value window_sum(Graph& graph, const std::string& name, Value series, std::size_t features, WindowOptions options);

}  // namespace catena::nn

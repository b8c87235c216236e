#include "catena/nn/sequences.h"

#include "catena/core/check.h"
#include "catena/nn/convolution.h"
#include "catena/nn/layers.h"

namespace catena::nn {

namespace {

bool given(Value value) { return value.node >= 0; }

}  // namespace

void fill_mask(std::span<const std::size_t> lengths, std::size_t window, std::size_t stride, Block mask) {
  CATENA_ASSERT(lengths.size() == mask.lanes);
  for (std::size_t w = 0; w < mask.features; ++w) {
    for (std::size_t l = 0; l < mask.lanes; ++l) mask(w, l) = w * stride + window <= lengths[l] ? 1.0F : 0.0F;
  }
}

Value gru_layer(Graph& graph, const std::string& name, Value series, std::size_t units, GruOptions options) {
  check::at_least("gru_layer", "units", units, std::size_t{1});
  const std::vector<Parameter> parameters{
      graph.parameter({.name = name + ".weight",
                       .rows = 3 * units,
                       .cols = graph.shape(series).channels,
                       .init = Init::scaled_normal}),
      graph.parameter({.name = name + ".recurrent", .rows = 3 * units, .cols = units, .init = Init::scaled_normal}),
      graph.parameter({.name = name + ".bias", .rows = 3 * units, .cols = 1, .decays = false}),
      graph.parameter({.name = name + ".recurrent_bias", .rows = units, .cols = 1, .decays = false})};
  std::vector<Value> inputs{series};
  if (given(options.state)) inputs.push_back(options.state);
  if (given(options.mask)) inputs.push_back(options.mask);
  return graph.apply("gru", inputs, parameters, {{"state", given(options.state)}, {"mask", given(options.mask)}});
}

Value last_state(Graph& graph, Value states) {
  const Shape shape = graph.shape(states);
  return slice(graph, states, shape.size() - shape.channels, shape.size());
}

Value window_sum(Graph& graph, const std::string& name, Value series, std::size_t features, WindowOptions options) {
  check::at_least("window_sum", "layers", options.layers, 1);
  check::equal("window_sum", "the series' size in the direction x", graph.shape(series).x, std::size_t{1});
  Value h = series;
  for (int i = 0; i < options.layers; ++i) {
    const Conv2dOptions sees = i == 0 ? Conv2dOptions{options.window, 1, options.stride} : Conv2dOptions{1, 1, 1};
    h = graph.apply(options.activation, {conv2d_layer(graph, name + "." + std::to_string(i), h, options.width, sees)});
  }
  h = conv2d_layer(graph, name + ".out", h, features, {1, 1, 1});
  std::vector<Value> inputs{h};
  if (given(options.mask)) inputs.push_back(options.mask);
  return graph.apply("sum_places", inputs);
}

}  // namespace catena::nn

#include "catena/nn/layers.h"

#include "catena/core/check.h"

namespace catena::nn {

namespace {

Parameter vector(Graph& graph, std::string name, std::size_t size, Init init) {
  return graph.parameter({.name = std::move(name), .rows = size, .cols = 1, .init = init, .decays = false});
}

}  // namespace

Value dense(Graph& graph, const std::string& name, Value x, std::size_t features, DenseOptions options) {
  check::at_least("dense", "features", features, std::size_t{1});
  std::vector<Parameter> parameters{graph.parameter({.name = name + ".weight",
                                                     .rows = features,
                                                     .cols = graph.features(x),
                                                     .init = Init::scaled_normal,
                                                     .scale = options.scale})};
  if (options.bias) parameters.push_back(vector(graph, name + ".bias", features, Init::zeros));
  return graph.apply("dense", {x}, parameters);
}

Value add(Graph& graph, Value x, Value y) { return graph.apply("add", {x, y}, {}, {{"factor", 1}}); }
Value subtract(Graph& graph, Value x, Value y) { return graph.apply("add", {x, y}, {}, {{"factor", -1}}); }
Value multiply(Graph& graph, Value x, Value y) { return graph.apply("multiply", {x, y}); }
Value scale(Graph& graph, double factor, Value x) { return graph.apply("scale", {x}, {}, {{"factor", factor}}); }
Value concatenate(Graph& graph, const std::vector<Value>& parts) { return graph.apply("concatenate", parts); }

Value slice(Graph& graph, Value x, std::size_t begin, std::size_t end) {
  return graph.apply("slice", {x}, {}, {{"begin", begin}, {"end", end}});
}

Value repeat(Graph& graph, Value x) {
  const Lanes lanes = graph.node(x).lanes;
  if (lanes == Lanes::each()) return x;
  return graph.apply("repeat", {x}, {}, {{"group", lanes.group}});
}

Value ones(Graph& graph, Value x) { return graph.apply("exp", {scale(graph, 0, x)}); }

Value sum_features(Graph& graph, Value x) { return graph.apply("lane_dot", {x, ones(graph, x)}); }

Value layer_norm(Graph& graph, const std::string& name, Value x) {
  const std::size_t features = graph.features(x);
  return graph.apply(
      "layer_norm", {x},
      {vector(graph, name + ".gamma", features, Init::ones), vector(graph, name + ".beta", features, Init::zeros)});
}

Value residual_layer(Graph& graph, const std::string& name, Value h, Value e) {
  const std::size_t features = graph.features(h);
  const Parameter weight =
      graph.parameter({.name = name + ".weight", .rows = features, .cols = features, .init = Init::scaled_normal});
  return graph.apply(
      "residual_layer", {h, e},
      {weight, vector(graph, name + ".bias", features, Init::zeros),
       vector(graph, name + ".gamma", features, Init::ones), vector(graph, name + ".beta", features, Init::zeros)});
}

Value fourier_features(Graph& graph, const std::string& name, Value x, std::size_t count, double spread) {
  check::that(count >= 2 && count % 2 == 0, "fourier_features", "count", count, "even and at least 2");
  const Parameter frequencies = graph.parameter({.name = name + ".frequency",
                                                 .rows = count / 2,
                                                 .cols = 1,
                                                 .init = Init::standard_normal,
                                                 .scale = spread,
                                                 .trainable = false,
                                                 .decays = false});
  return graph.apply("fourier", {x}, {frequencies});
}

Value hidden(Graph& graph, const std::string& name, Value x, std::size_t width, int layers,
             std::string_view activation) {
  for (int i = 0; i < layers; ++i) {
    x = graph.apply(activation, {dense(graph, name + "." + std::to_string(i), x, width)});
  }
  return x;
}

Value mlp(Graph& graph, const std::string& name, Value x, std::size_t width, int hidden_layers, std::size_t features,
          std::string_view activation) {
  return dense(graph, name + ".out", hidden(graph, name, x, width, hidden_layers, activation), features);
}

}  // namespace catena::nn

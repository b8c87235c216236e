#include "catena/train/ratio_network.h"

#include "catena/nn/layers.h"

namespace catena::train {
namespace {

/// A network's last hidden layer.
nn::Value hidden(nn::Graph& graph, const std::string& name, nn::Value x, const RatioNetworkSettings& settings) {
  for (int i = 0; i < settings.layers; ++i) {
    const std::string layer = name + "." + std::to_string(i);
    x = graph.apply("gelu", {nn::dense(graph, layer, x, static_cast<std::size_t>(settings.width))});
  }
  return x;
}

}  // namespace

nn::Value record_summary(nn::Graph& graph, const RatioNetworkSettings& settings, nn::Value state, nn::Value increment) {
  const auto terms = static_cast<std::size_t>(settings.terms), products = static_cast<std::size_t>(settings.products);
  const nn::Value all = nn::concatenate(graph, {state, increment});
  const nn::Value h = hidden(graph, "psi", all, settings);
  const nn::Value p =
      nn::dense(graph, "p.out", nn::concatenate(graph, {state, hidden(graph, "p", state, settings)}), products);
  const nn::Value q = nn::dense(graph, "q", increment, products);
  const nn::Value psi = nn::dense(graph, "psi.out", nn::concatenate(graph, {h, nn::multiply(graph, p, q)}), terms);
  const nn::Value one = graph.apply("exp", {nn::scale(graph, 0, nn::slice(graph, psi, 0, 1))});
  return nn::concatenate(graph, {psi, one});
}

nn::Value record_coefficients(nn::Graph& graph, const RatioNetworkSettings& settings, nn::Value z) {
  const auto terms = static_cast<std::size_t>(settings.terms);
  // Products of linear forms beside the network: z enters most simulators as a polynomial.
  const nn::Value squares =
      nn::multiply(graph, nn::dense(graph, "phi.left", z, terms), nn::dense(graph, "phi.right", z, terms));
  const nn::Value h = hidden(graph, "phi", z, settings);
  return nn::dense(graph, "phi.out", nn::concatenate(graph, {z, squares, h}), terms + 1);
}

nn::Value record_joint(nn::Graph& graph, const RatioNetworkSettings& settings, const RatioInputs& inputs) {
  const auto width = static_cast<std::size_t>(settings.width);
  const nn::Value c = nn::concatenate(graph, {inputs.state, inputs.increment});
  const nn::Value of_c = nn::repeat(graph, nn::dense(graph, "c", c, width));
  const nn::Value of_z = nn::repeat(graph, nn::dense(graph, "z", inputs.z, width, {.bias = false}));
  const nn::Value e = nn::add(graph, of_z, of_c);
  nn::Value h = graph.apply("gelu", {e});
  for (int i = 0; i < 2 * settings.layers; ++i) h = nn::residual_layer(graph, "layer" + std::to_string(i), h, e);
  return nn::dense(graph, "out", h, 1);
}

RatioGraph record_ratio(const RatioNetworkSettings& settings, const RatioShape& shape, nn::Lanes z_lanes) {
  check_config("ratio network", settings);
  RatioGraph result;
  nn::Graph& graph = result.graph;
  RatioInputs& inputs = result.inputs;
  inputs.z = graph.input("z", shape.parameters, z_lanes);
  inputs.state = graph.input("state", shape.state);
  inputs.increment = graph.input("increment", shape.increment);
  if (!settings.separable()) {
    result.ratio = record_joint(graph, settings, inputs);
    return result;
  }
  const nn::Value phi = nn::repeat(graph, record_coefficients(graph, settings, inputs.z));
  result.ratio = graph.apply("lane_dot", {phi, record_summary(graph, settings, inputs.state, inputs.increment)});
  return result;
}

}  // namespace catena::train

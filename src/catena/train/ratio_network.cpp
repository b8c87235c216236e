#include "catena/train/ratio_network.h"

#include "catena/core/check.h"
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

/// Products of linear forms: (A x) ⊙ (B x)
nn::Value forms(nn::Graph& graph, const std::string& name, nn::Value x, std::size_t count) {
  return nn::multiply(graph, nn::dense(graph, name + ".left", x, count), nn::dense(graph, name + ".right", x, count));
}

std::size_t all_square_terms(const RatioNetworkSettings& settings) {
  CATENA_ASSERT(settings.squares >= 0);
  return static_cast<std::size_t>(settings.squares) * static_cast<std::size_t>(settings.square_terms);
}

}  // namespace

nn::Value record_summary(nn::Graph& graph, const RatioNetworkSettings& settings, const RatioShape& shape,
                         nn::Value state, nn::Value increment) {
  const auto terms = static_cast<std::size_t>(settings.terms), products = static_cast<std::size_t>(settings.products);
  const nn::Value of_state = nn::concatenate(graph, {state, hidden(graph, "p", state, settings)});
  const nn::Value p = nn::dense(graph, "p.out", of_state, products);
  const nn::Value q = nn::dense(graph, "q", increment, products);
  const nn::Value h = hidden(graph, "psi", nn::concatenate(graph, {state, increment}), settings);
  const nn::Value psi = nn::dense(graph, "psi.out", nn::concatenate(graph, {h, nn::multiply(graph, p, q)}), terms);
  const nn::Value one = graph.apply("exp", {nn::scale(graph, 0, nn::slice(graph, psi, 0, 1))});
  if (settings.squares == 0) return nn::concatenate(graph, {psi, one});
  const nn::Value u = nn::slice(graph, increment, 0, shape.states);
  const nn::Value linear = nn::multiply(graph, p, nn::dense(graph, "squares.q", u, products));
  const nn::Value squares =
      nn::dense(graph, "squares.psi", nn::concatenate(graph, {of_state, linear}), all_square_terms(settings));
  return nn::concatenate(graph, {psi, one, squares});
}

nn::Value record_coefficients(nn::Graph& graph, const RatioNetworkSettings& settings, nn::Value z) {
  const auto terms = static_cast<std::size_t>(settings.terms);
  // Drifts are often polynomials in z: products of linear forms beside the network.
  const nn::Value h =
      nn::concatenate(graph, {z, forms(graph, "phi.forms", z, terms), hidden(graph, "phi", z, settings)});
  return nn::dense(graph, "phi.out", h, terms + 1 + all_square_terms(settings));
}

nn::Value record_product(nn::Graph& graph, const RatioNetworkSettings& settings, nn::Value coefficients,
                         nn::Value summary, std::size_t pairs) {
  const auto product = [&](std::size_t begin, std::size_t end) {
    const nn::Value phi = nn::slice(graph, coefficients, begin, end), psi = nn::slice(graph, summary, begin, end);
    return pairs == 0 ? graph.apply("lane_dot", {phi, psi})
                      : graph.apply("lane_pairs", {phi, psi}, {}, {static_cast<double>(pairs)});
  };
  std::size_t at = static_cast<std::size_t>(settings.terms) + 1;
  nn::Value r = product(0, at);
  for (int m = 0; m < settings.squares; ++m) {
    const std::size_t end = at + static_cast<std::size_t>(settings.square_terms);
    const nn::Value e = product(at, end);
    r = graph.apply("add", {r, nn::multiply(graph, e, e)}, {}, {-0.5});
    at = end;
  }
  return r;
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
  const nn::Value psi = record_summary(graph, settings, shape, inputs.state, inputs.increment);
  result.ratio = record_product(graph, settings, phi, psi);
  return result;
}

}  // namespace catena::train

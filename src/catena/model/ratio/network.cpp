#include "catena/model/ratio/network.h"

#include "catena/core/check.h"
#include "catena/nn/layers.h"

namespace catena::model {
namespace {

nn::Value hidden(nn::Graph& graph, const std::string& name, nn::Value x, const RatioNetworkSettings& settings) {
  return nn::hidden(graph, name, x, static_cast<std::size_t>(settings.width), settings.layers);
}

SeparableGaussian gaussian_of(const RatioNetworkSettings& settings) {
  CATENA_ASSERT(settings.squares >= 1);
  const auto width = static_cast<std::size_t>(settings.width);
  return {.states = static_cast<std::size_t>(settings.squares),
          .state_width = width,
          .z_width = width,
          .state_layers = settings.layers,
          .z_layers = settings.layers,
          .forms = static_cast<std::size_t>(settings.terms),
          .products = static_cast<std::size_t>(settings.products),
          .terms = static_cast<std::size_t>(settings.square_terms)};
}

/// The Gaussian's logarithm, and what that of N(u; 0, I) takes off: ½‖u‖².
nn::Value record_gaussian_ratio_summary(nn::Graph& graph, const RatioNetworkSettings& settings, nn::Value state,
                                        nn::Value u) {
  const SeparableGaussian gaussian = gaussian_of(settings);
  const nn::Value half_square = nn::scale(graph, 0.5, nn::sum_features(graph, nn::multiply(graph, u, u)));
  return record_gaussian_summary(graph, gaussian, record_state(graph, gaussian, state), u, {}, half_square);
}

}  // namespace

SeparableLayout RatioNetworkSettings::layout() const {
  CATENA_ASSERT(separable() && squares >= 0);
  if (gaussian()) return layout_of(gaussian_of(*this));
  return {.linear = static_cast<std::size_t>(terms) + 1,
          .squares = static_cast<std::size_t>(squares),
          .terms = static_cast<std::size_t>(square_terms)};
}

nn::Value record_summary(nn::Graph& graph, const RatioNetworkSettings& settings, const RatioShape& shape,
                         nn::Value state, nn::Value increment) {
  const auto terms = static_cast<std::size_t>(settings.terms), products = static_cast<std::size_t>(settings.products);
  const nn::Value u = nn::slice(graph, increment, 0, shape.states);
  if (settings.gaussian()) return record_gaussian_ratio_summary(graph, settings, state, u);
  const nn::Value of_state = nn::concatenate(graph, {state, hidden(graph, "p", state, settings)});
  const nn::Value p = nn::dense(graph, "p.out", of_state, products);
  const nn::Value q = nn::dense(graph, "q", increment, products);
  const nn::Value h = hidden(graph, "psi", nn::concatenate(graph, {state, increment}), settings);
  const nn::Value psi = nn::dense(graph, "psi.out", nn::concatenate(graph, {h, nn::multiply(graph, p, q)}), terms);
  const nn::Value one = nn::ones(graph, nn::slice(graph, psi, 0, 1));
  if (settings.squares == 0) return nn::concatenate(graph, {psi, one});
  const nn::Value linear = nn::multiply(graph, p, nn::dense(graph, "squares.q", u, products));
  const nn::Value squares =
      nn::dense(graph, "squares.psi", nn::concatenate(graph, {of_state, linear}), settings.layout().square_features());
  return nn::concatenate(graph, {psi, one, squares});
}

nn::Value record_coefficients(nn::Graph& graph, const RatioNetworkSettings& settings, nn::Value z) {
  if (settings.gaussian()) return record_gaussian_coefficients(graph, gaussian_of(settings), z);
  const auto terms = static_cast<std::size_t>(settings.terms);
  const nn::Value h = record_forms(graph, z, terms, static_cast<std::size_t>(settings.width), settings.layers);
  return nn::dense(graph, "phi.out", h, settings.layout().features());
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
  result.ratio = record_products(graph, settings.layout(), phi, psi);
  return result;
}

}  // namespace catena::model

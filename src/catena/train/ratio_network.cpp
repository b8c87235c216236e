#include "catena/train/ratio_network.h"

#include "catena/core/check.h"
#include "catena/nn/layers.h"
#include "catena/train/density.h"

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

/// A gaussian ratio starts near 0: on the initial weights.
constexpr double small = 0.1;

std::size_t all_square_terms(const RatioNetworkSettings& settings) {
  CATENA_ASSERT(settings.squares >= 0);
  return static_cast<std::size_t>(settings.squares) * static_cast<std::size_t>(settings.square_terms);
}

/// One feature for all of k.
nn::Value copies(nn::Graph& graph, nn::Value x, std::size_t k) {
  return nn::concatenate(graph, std::vector<nn::Value>(k, x));
}

nn::Value ones(nn::Graph& graph, nn::Value like) { return graph.apply("exp", {nn::scale(graph, 0, like)}); }

/// Σ_m g_m(s) + ½‖u‖² and 1, then e^(g_m(s)) u_m and ψ_m(s, u_<m) for each m.
nn::Value record_gaussian_summary(nn::Graph& graph, const RatioNetworkSettings& settings, nn::Value of_state,
                                  nn::Value u) {
  const std::size_t n = graph.features(u), rest = static_cast<std::size_t>(settings.square_terms) - 1,
                    products = static_cast<std::size_t>(settings.products);
  CATENA_ASSERT(n == static_cast<std::size_t>(settings.squares));
  const nn::Value g = nn::dense(graph, "g", of_state, n, {.scale = small});
  const nn::Value scaled = nn::multiply(graph, graph.apply("exp", {g}), u);
  const nn::Value free =
      nn::add(graph, sum_features(graph, g), nn::scale(graph, 0.5, sum_features(graph, nn::multiply(graph, u, u))));
  std::vector<nn::Value> parts{free, ones(graph, free)};
  const nn::Value p = n > 1 ? nn::dense(graph, "p.out", of_state, products) : nn::Value();
  for (std::size_t m = 0; m < n; ++m) {
    const std::string name = "squares." + std::to_string(m);
    nn::Value seen = of_state;
    if (m > 0) {
      const nn::Value q = nn::dense(graph, name + ".q", nn::slice(graph, u, 0, m), products, {.bias = false});
      seen = nn::concatenate(graph, {of_state, nn::multiply(graph, p, q)});
    }
    parts.push_back(nn::slice(graph, scaled, m, m + 1));
    parts.push_back(nn::dense(graph, name + ".psi", seen, rest));
  }
  return nn::concatenate(graph, std::move(parts));
}

/// 1 and Σ_m l_m(z), then e^(l_m(z)) and e^(l_m(z)) φ_m(z) for each m.
nn::Value record_gaussian_coefficients(nn::Graph& graph, const RatioNetworkSettings& settings, nn::Value h) {
  const auto n = static_cast<std::size_t>(settings.squares), k = static_cast<std::size_t>(settings.square_terms);
  const nn::Value l = nn::dense(graph, "l", h, n, {.scale = small});
  const nn::Value phi = nn::dense(graph, "phi.out", h, n * (k - 1), {.scale = small});
  const nn::Value diagonal = graph.apply("exp", {l}), sum = sum_features(graph, l);
  std::vector<nn::Value> parts{ones(graph, sum), sum};
  for (std::size_t m = 0; m < n; ++m) {
    const nn::Value factor = nn::slice(graph, diagonal, m, m + 1);
    parts.push_back(factor);
    parts.push_back(
        nn::multiply(graph, copies(graph, factor, k - 1), nn::slice(graph, phi, m * (k - 1), (m + 1) * (k - 1))));
  }
  return nn::concatenate(graph, std::move(parts));
}

}  // namespace

nn::Value record_summary(nn::Graph& graph, const RatioNetworkSettings& settings, const RatioShape& shape,
                         nn::Value state, nn::Value increment) {
  const auto terms = static_cast<std::size_t>(settings.terms), products = static_cast<std::size_t>(settings.products);
  const nn::Value of_state = nn::concatenate(graph, {state, hidden(graph, "p", state, settings)});
  const nn::Value u = nn::slice(graph, increment, 0, shape.states);
  if (settings.gaussian()) return record_gaussian_summary(graph, settings, of_state, u);
  const nn::Value p = nn::dense(graph, "p.out", of_state, products);
  const nn::Value q = nn::dense(graph, "q", increment, products);
  const nn::Value h = hidden(graph, "psi", nn::concatenate(graph, {state, increment}), settings);
  const nn::Value psi = nn::dense(graph, "psi.out", nn::concatenate(graph, {h, nn::multiply(graph, p, q)}), terms);
  const nn::Value one = ones(graph, nn::slice(graph, psi, 0, 1));
  if (settings.squares == 0) return nn::concatenate(graph, {psi, one});
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
  if (settings.gaussian()) return record_gaussian_coefficients(graph, settings, h);
  return nn::dense(graph, "phi.out", h, terms + 1 + all_square_terms(settings));
}

nn::Value record_product(nn::Graph& graph, const RatioNetworkSettings& settings, nn::Value coefficients,
                         nn::Value summary, std::size_t pairs) {
  const auto product = [&](std::size_t begin, std::size_t end) {
    const nn::Value phi = nn::slice(graph, coefficients, begin, end), psi = nn::slice(graph, summary, begin, end);
    return pairs == 0 ? graph.apply("lane_dot", {phi, psi})
                      : graph.apply("lane_pairs", {phi, psi}, {}, {static_cast<double>(pairs)});
  };
  std::size_t at = settings.linear_terms() + 1;
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

#include "catena/model/separable_gaussian.h"

#include <string>
#include <vector>

#include "catena/core/check.h"
#include "catena/nn/layers.h"

namespace catena::model {
namespace {

/// On the initial weights of l, g and φ: q begins near N(0, I).
constexpr double small = 0.1;

}  // namespace

SeparableLayout layout_of(const SeparableGaussian& gaussian) {
  return {.linear = 1 + gaussian.states, .squares = gaussian.states, .terms = gaussian.terms};
}

nn::Value record_state(nn::Graph& graph, const SeparableGaussian& gaussian, nn::Value state) {
  return nn::concatenate(graph, {state, nn::hidden(graph, "p", state, gaussian.state_width, gaussian.state_layers)});
}

nn::Value record_gaussian_summary(nn::Graph& graph, const SeparableGaussian& gaussian, nn::Value of_state, nn::Value u,
                                  nn::Value keep, nn::Value more) {
  const std::size_t n = gaussian.states, rest = gaussian.terms - 1;
  CATENA_ASSERT(graph.features(u) == n && gaussian.terms >= 2);
  const nn::Value g = nn::dense(graph, "g", of_state, n, {.scale = small});
  const nn::Value kept = keep.node >= 0 ? keep : nn::ones(graph, g);
  const nn::Value scaled = nn::multiply(graph, graph.apply("exp", {g}), u);
  const nn::Value free = graph.apply("lane_dot", {kept, g});
  std::vector<nn::Value> parts{more.node >= 0 ? nn::add(graph, free, more) : free, kept};
  const nn::Value p = n > 1 ? nn::dense(graph, "p.out", of_state, gaussian.products) : nn::Value();
  for (std::size_t m = 0; m < n; ++m) {
    const std::string name = "squares." + std::to_string(m);
    nn::Value seen = of_state;
    if (m > 0) {
      const nn::Value q = nn::dense(graph, name + ".q", nn::slice(graph, u, 0, m), gaussian.products, {.bias = false});
      seen = nn::concatenate(graph, {of_state, nn::multiply(graph, p, q)});
    }
    for (nn::Value part : {nn::slice(graph, scaled, m, m + 1), nn::dense(graph, name + ".psi", seen, rest)}) {
      if (keep.node >= 0) part = graph.apply("scale_lanes", {nn::slice(graph, keep, m, m + 1), part});
      parts.push_back(part);
    }
  }
  return nn::concatenate(graph, parts);
}

nn::Value record_gaussian_coefficients(nn::Graph& graph, const SeparableGaussian& gaussian, nn::Value z) {
  const std::size_t n = gaussian.states, rest = gaussian.terms - 1;
  const nn::Value h = record_forms(graph, z, gaussian.forms, gaussian.z_width, gaussian.z_layers);
  const nn::Value l = nn::dense(graph, "l", h, n, {.scale = small});
  const nn::Value phi = nn::dense(graph, "phi.out", h, n * rest, {.scale = small});
  const nn::Value diagonal = graph.apply("exp", {l});
  std::vector<nn::Value> parts{nn::ones(graph, nn::slice(graph, l, 0, 1)), l};
  for (std::size_t m = 0; m < n; ++m) {
    const nn::Value factor = nn::slice(graph, diagonal, m, m + 1);
    parts.push_back(factor);
    parts.push_back(graph.apply("scale_lanes", {factor, nn::slice(graph, phi, m * rest, (m + 1) * rest)}));
  }
  return nn::concatenate(graph, parts);
}

nn::Value record_forms(nn::Graph& graph, nn::Value z, std::size_t forms, std::size_t width, int layers) {
  if (forms == 0) return nn::concatenate(graph, {z, nn::hidden(graph, "phi", z, width, layers)});
  const nn::Value products =
      nn::multiply(graph, nn::dense(graph, "phi.forms.left", z, forms), nn::dense(graph, "phi.forms.right", z, forms));
  return nn::concatenate(graph, {z, products, nn::hidden(graph, "phi", z, width, layers)});
}

nn::Value record_products(nn::Graph& graph, const SeparableLayout& layout, nn::Value coefficients, nn::Value summary,
                          std::size_t pairs) {
  const auto product = [&](std::size_t begin, std::size_t end) {
    const nn::Value phi = nn::slice(graph, coefficients, begin, end), psi = nn::slice(graph, summary, begin, end);
    return pairs == 0 ? graph.apply("lane_dot", {phi, psi})
                      : graph.apply("lane_pairs", {phi, psi}, {}, {{"pairs", pairs}});
  };
  std::size_t at = layout.linear;
  nn::Value sum = product(0, at);
  for (std::size_t m = 0; m < layout.squares; ++m) {
    const nn::Value e = product(at, at + layout.terms);
    sum = graph.apply("add", {sum, nn::multiply(graph, e, e)}, {}, {{"factor", -0.5}});
    at += layout.terms;
  }
  return sum;
}

}  // namespace catena::model

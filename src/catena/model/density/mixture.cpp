// q(v | x^t, z) = Σ_k π_k N(v; μ_k, C_k⁻¹), K Gaussians with full covariances and their shares from one network:
//
//   −log q = log Σ_k e^(s_k) − log Σ_k e^(s_k − loss_k),   π_k = e^(s_k)/Σ_j e^(s_j),
//   loss_k = Σ_i (½ e_ik² − l_ik),   e_ik = e^(l_ik) v_i + Σ_{j<i} L_ijk v_j − b_ik.
//
// Coordinate by coordinate, with all components in one block of K features. The network's outputs stand in this order:
// s, and then for each coordinate b, l and the K rows of L below the diagonal.

#include <algorithm>
#include <cmath>

#include "catena/model/density/density.h"
#include "catena/model/density/gaussian_draw.h"
#include "catena/nn/layers.h"

namespace catena::model {
namespace {

std::size_t component_count(const DensitySettings& settings) { return static_cast<std::size_t>(settings.components); }

std::size_t mixture_outputs(const DensitySettings& settings, std::size_t n) {
  return component_count(settings) * (1 + nn::gaussian_parameters(n));
}

/// Where coordinate i's b begins.
std::size_t coordinate_offset(std::size_t components, std::size_t i) {
  return components * (1 + 2 * i + (i > 0 ? i * (i - 1) / 2 : 0));
}

nn::Value record_mixture_density(nn::Graph& graph, const DensitySettings& settings, const DensityInputs& inputs,
                                 bool atoms) {
  const std::size_t n = graph.features(inputs.v), components = component_count(settings);
  const nn::Value all = record_trunk(graph, "mixture", settings, inputs.state, inputs.z, mixture_outputs(settings, n));
  const nn::Value shares = nn::slice(graph, all, 0, components);
  nn::Value joint = shares;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = coordinate_offset(components, i);
    const nn::Value b = nn::slice(graph, all, at, at + components);
    const nn::Value l = nn::slice(graph, all, at + components, at + 2 * components);
    nn::Value lv = graph.apply("scale_lanes", {nn::slice(graph, inputs.v, i, i + 1), graph.apply("exp", {l})});
    if (i > 0) {
      const nn::Value rows = nn::slice(graph, all, at + 2 * components, at + (2 + i) * components);
      lv = nn::add(graph, lv, graph.apply("lane_matvec", {rows, nn::slice(graph, inputs.v, 0, i)}));
    }
    const nn::Value e = nn::subtract(graph, lv, b);
    nn::Value log_density = nn::subtract(graph, l, nn::scale(graph, 0.5, nn::multiply(graph, e, e)));
    if (atoms) {
      log_density = graph.apply("scale_lanes", {nn::slice(graph, inputs.keep, i, i + 1), log_density});
    }
    joint = nn::add(graph, joint, log_density);
  }
  return nn::subtract(graph, graph.apply("logsumexp_features", {shares}), graph.apply("logsumexp_features", {joint}));
}

/// Component k's outputs in the order of nn/gaussian.h.
std::vector<float> component_parameters(std::span<const float> all, std::size_t components, std::size_t k,
                                        std::size_t n) {
  std::vector<float> result(nn::gaussian_parameters(n));
  std::size_t below = 2 * n;
  for (std::size_t i = 0; i < n; ++i) {
    const auto of_coordinate = all.subspan(coordinate_offset(components, i));
    result[i] = of_coordinate[k];
    result[n + i] = of_coordinate[components + k];
    for (std::size_t j = 0; j < i; ++j) result[below++] = of_coordinate[2 * components + k * i + j];
  }
  return result;
}

/// k with probability proportional to e^(s_k).
std::size_t choose(std::span<const float> shares, Stream& stream) {
  const float largest = *std::ranges::max_element(shares);
  double total = 0;
  for (const float s : shares) total += std::exp(static_cast<double>(s - largest));
  double rest = stream.uniform() * total;
  for (std::size_t k = 0; k + 1 < shares.size(); ++k) {
    rest -= std::exp(static_cast<double>(shares[k] - largest));
    if (rest < 0) return k;
  }
  return shares.size() - 1;
}

void draw_mixture_density(const DensitySettings& settings, const DensityShape& shape, const NamedWeights& weights,
                          const std::string& source, const DensityContexts& contexts, Stream stream, MatrixView v) {
  const std::size_t all = mixture_outputs(settings, shape.states), components = component_count(settings);
  nn::Graph graph;
  const nn::Value z = graph.input("z", shape.parameters), state = graph.input("state", shape.state_inputs);
  const nn::Value output = record_trunk(graph, "mixture", settings, state, z, all);
  const RowInput inputs[] = {{z, contexts.z}, {state, contexts.state}};
  const std::vector<float> parameters = run_rows(graph, inputs, output, weights, source);
  for (std::size_t r = 0; r < v.rows; ++r) {
    const auto row = std::span(parameters).subspan(r * all, all);
    const std::size_t k = choose(row.first(components), stream);
    draw_gaussian(component_parameters(row, components, k, shape.states), contexts.keep.row(r), stream, v.row(r));
  }
}

}  // namespace

DensityKind mixture_density() {
  return {"mixture", "a mixture of Gaussians with full covariances", false, record_mixture_density,
          draw_mixture_density};
}

}  // namespace catena::model

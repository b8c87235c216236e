// q(v | x^t, z) = Σ_k π_k N(v; μ_k, C_k⁻¹), K Gaussians with full covariances and their shares from one network:
//
//   −log q = log Σ_k e^(s_k) − log Σ_k e^(s_k − loss_k),   π_k = e^(s_k)/Σ_j e^(s_j).

#include <algorithm>
#include <cmath>

#include "catena/nn/layers.h"
#include "catena/train/density.h"
#include "catena/train/gaussian_draw.h"

namespace catena::train {
namespace {

std::size_t outputs(const DensitySettings& settings, std::size_t n) {
  return static_cast<std::size_t>(settings.components) * (1 + nn::gaussian_parameters(n));
}

nn::Value record_mixture_density(nn::Graph& graph, const DensitySettings& settings, const DensityInputs& inputs, bool atoms) {
  const std::size_t n = graph.features(inputs.v), size = nn::gaussian_parameters(n);
  const auto components = static_cast<std::size_t>(settings.components);
  const nn::Value all = record_trunk(graph, "mixture", settings, inputs.state, inputs.z, outputs(settings, n));
  const nn::Value shares = nn::slice(graph, all, 0, components);
  std::vector<nn::Value> losses;
  for (std::size_t k = 0; k < components; ++k) {
    const nn::Value parameters = nn::slice(graph, all, components + k * size, components + (k + 1) * size);
    const nn::GaussianNode node = nn::record_gaussian(graph, parameters, inputs.v);
    losses.push_back(atoms ? record_masked_gaussian(graph, node, inputs.keep) : node.loss);
  }
  const nn::Value joint = nn::subtract(graph, shares, nn::concatenate(graph, std::move(losses)));
  return nn::subtract(graph, graph.apply("logsumexp_features", {shares}), graph.apply("logsumexp_features", {joint}));
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
  const std::size_t all = outputs(settings, shape.states), size = nn::gaussian_parameters(shape.states);
  const auto components = static_cast<std::size_t>(settings.components);
  nn::Graph graph;
  const nn::Value z = graph.input("z", shape.parameters), state = graph.input("state", shape.state_inputs);
  const nn::Value output = record_trunk(graph, "mixture", settings, state, z, all);
  const RowInput inputs[] = {{z, contexts.z}, {state, contexts.state}};
  const std::vector<float> parameters = run_rows(graph, inputs, output, weights, source);
  for (std::size_t r = 0; r < v.rows; ++r) {
    const auto row = std::span(parameters).subspan(r * all, all);
    const std::size_t k = choose(row.first(components), stream);
    draw_gaussian(row.subspan(components + k * size, size), contexts.keep.row(r), stream, v.row(r));
  }
}

}  // namespace

DensityKind mixture_density() { return {"mixture", "a mixture of Gaussians with full covariances", false, record_mixture_density, draw_mixture_density}; }

}  // namespace catena::train

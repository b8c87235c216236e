#include "catena/train/whitening.h"

#include <algorithm>

#include "catena/nn/gaussian.h"
#include "catena/nn/layers.h"

namespace catena::train {
namespace {

constexpr std::size_t width = 50, hidden_layers = 3;

/// Rows of c = (x^t, Δ, t) into lanes.
template <class Row>
void fill_lanes(const WhiteningGraph& network, nn::Workspace& workspace, std::size_t lanes, const Row& row) {
  const Block state = workspace.value(network.state, lanes), increment = workspace.value(network.increment, lanes);
  const std::size_t n = increment.features;
  for (std::size_t l = 0; l < lanes; ++l) {
    const float* c = row(l);
    for (std::size_t i = 0; i < n; ++i) increment(i, l) = c[n + i];
    for (std::size_t i = 0; i < state.features; ++i) state(i, l) = c[i < n ? i : n + i];
  }
}

}  // namespace

WhiteningGraph record_whitening(std::size_t states, std::size_t features) {
  WhiteningGraph network;
  network.state = network.graph.input("state", features - states);
  network.increment = network.graph.input("increment", states);
  const nn::Value parameters =
      nn::mlp(network.graph, "whitening", network.state, width, hidden_layers, nn::gaussian_parameters(states), "gelu");
  const nn::GaussianNode gaussian = nn::record_gaussian(network.graph, parameters, network.increment);
  network.residual = gaussian.residual;
  network.loss = gaussian.loss;
  return network;
}

WhiteningObjective::WhiteningObjective(std::size_t states, std::size_t features)
    : network_(record_whitening(states, features)) {}

void WhiteningObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream) const {
  fill_lanes(network_, workspace, part.count(), [&](std::size_t i) { return part.c(i); });
}

Whitening::Whitening(const NamedWeights& weights, const std::string& source, std::size_t states, std::size_t features)
    : states_(states),
      features_(features),
      network_(record_whitening(states, features)),
      weights_(flat_weights(network_.graph, weights, source)) {}

void Whitening::apply(std::span<float> c) const {
  constexpr std::size_t block = 128;
  nn::Workspace workspace(network_.graph, block, {.keep_values = true});
  const std::size_t rows = c.size() / features_;
  for (std::size_t begin = 0; begin < rows; begin += block) {
    const std::size_t lanes = std::min(block, rows - begin);
    float* first = c.data() + begin * features_;
    fill_lanes(network_, workspace, lanes, [&](std::size_t l) { return first + l * features_; });
    workspace.forward(weights_, lanes);
    const Block u = workspace.value(network_.residual, lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t i = 0; i < states_; ++i) first[l * features_ + states_ + i] = u(i, l);
    }
  }
}

}  // namespace catena::train

#include "catena/train/whitening.h"

#include <algorithm>

#include "catena/nn/gaussian.h"
#include "catena/nn/layers.h"

namespace catena::train {
namespace {

constexpr std::size_t width = 50;
constexpr int hidden_layers = 3;

/// Rows of c = (condition, target, the rest) into lanes.
template <class Row>
void fill_lanes(const WhiteningGraph& network, const Features& features, nn::Workspace& workspace, std::size_t lanes,
                const Row& row) {
  const Block state = workspace.value(network.state, lanes), increment = workspace.value(network.increment, lanes);
  for (std::size_t l = 0; l < lanes; ++l) {
    const float* c = row(l);
    for (std::size_t i = 0; i < increment.features; ++i) increment(i, l) = c[features.condition() + i];
    for (std::size_t i = 0; i < state.features; ++i) state(i, l) = c[features.known(i)];
  }
}

}  // namespace

WhiteningGraph record_whitening(const Features& features) {
  WhiteningGraph network;
  network.state = network.graph.input("state", features.known());
  network.increment = network.graph.input("increment", features.target());
  const nn::Value parameters = nn::mlp(network.graph, "whitening", network.state, width, hidden_layers,
                                       nn::gaussian_parameters(features.target()), "gelu");
  const nn::GaussianNode gaussian = nn::record_gaussian(network.graph, parameters, network.increment);
  network.residual = gaussian.residual;
  network.loss = gaussian.loss;
  return network;
}

WhiteningObjective::WhiteningObjective(const Features& features)
    : features_(features), network_(record_whitening(features)) {}

void WhiteningObjective::fill(nn::Workspace& workspace, const BatchPart& part, Stream) const {
  fill_lanes(network_, features_, workspace, part.count(), [&](std::size_t i) { return part.c(i); });
}

Whitening::Whitening(const NamedWeights& weights, const std::string& source, const Features& features)
    : features_(features),
      network_(record_whitening(features)),
      weights_(flat_weights(network_.graph, weights, source)) {}

void Whitening::apply(std::span<float> c) const {
  constexpr std::size_t block = 128;
  nn::Workspace workspace(network_.graph, block, {.keep_values = true});
  const std::size_t columns = features_.size(), rows = c.size() / columns;
  for (std::size_t begin = 0; begin < rows; begin += block) {
    const std::size_t lanes = std::min(block, rows - begin);
    float* first = c.data() + begin * columns;
    fill_lanes(network_, features_, workspace, lanes, [&](std::size_t l) { return first + l * columns; });
    workspace.forward(weights_, lanes);
    const Block u = workspace.value(network_.residual, lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t i = 0; i < u.features; ++i) first[l * columns + features_.condition() + i] = u(i, l);
    }
  }
}

}  // namespace catena::train

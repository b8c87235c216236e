#include "catena/model/whitening.h"

#include "catena/nn/gaussian.h"
#include "catena/nn/layers.h"
#include "catena/nn/rows.h"

namespace catena::model {
namespace {

constexpr std::size_t whitening_width = 50;
constexpr int whitening_layers = 3;

}  // namespace

void WhiteningGraph::fill_lane(nn::Workspace& workspace, const Features& features, std::size_t lanes, std::size_t lane,
                               const float* c) const {
  const Block known = workspace.value(state, lanes), target = workspace.value(increment, lanes);
  for (std::size_t i = 0; i < target.features; ++i) target(i, lane) = c[features.condition() + i];
  for (std::size_t i = 0; i < known.features; ++i) known(i, lane) = c[features.known(i)];
}

WhiteningGraph record_whitening(const Features& features) {
  WhiteningGraph network;
  network.state = network.graph.input("state", features.known());
  network.increment = network.graph.input("increment", features.target());
  const nn::Value parameters = nn::mlp(network.graph, "whitening", network.state, whitening_width, whitening_layers,
                                       nn::gaussian_parameters(features.target()), "gelu");
  const nn::GaussianNode gaussian = nn::record_gaussian(network.graph, parameters, network.increment);
  network.residual = gaussian.residual;
  network.loss = gaussian.loss;
  return network;
}

Whitening::Whitening(const NamedWeights& weights, const std::string& source, const Features& features)
    : features_(features),
      network_(record_whitening(features)),
      weights_(flat_weights(network_.graph, weights, source)) {}

void Whitening::apply(std::span<float> c) const {
  const std::size_t columns = features_.size();
  const auto row = [&](std::size_t r) { return c.data() + r * columns; };
  nn::run_rows(
      network_.graph, weights_, c.size() / columns,
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        for (std::size_t l = 0; l < lanes; ++l) network_.fill_lane(workspace, features_, lanes, l, row(begin + l));
      },
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        const Block u = workspace.value(network_.residual, lanes);
        for (std::size_t l = 0; l < lanes; ++l) {
          for (std::size_t i = 0; i < u.features; ++i) row(begin + l)[features_.condition() + i] = u(i, l);
        }
      },
      {.keep_values = true});
}

}  // namespace catena::model

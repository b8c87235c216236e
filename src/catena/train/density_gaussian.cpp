// q(v | x^t, z) = N(v; L⁻¹b, (LᵀL)⁻¹): one Gaussian with a full covariance, b and L from a network (nn/gaussian.h). As L
// is lower triangular, −log q = Σ_i (½ e_i² − l_i) is a sum over coordinates given those before; a coordinate at its
// atom leaves its term out and still informs those after it.

#include "catena/nn/gaussian.h"

#include "catena/nn/layers.h"
#include "catena/train/density.h"
#include "catena/train/gaussian_draw.h"

namespace catena::train {
namespace {

nn::Value record(nn::Graph& graph, const DensitySettings& settings, const DensityInputs& inputs, bool atoms) {
  const std::size_t n = graph.features(inputs.v);
  const nn::Value parameters =
      record_trunk(graph, "gaussian", settings, inputs.state, inputs.z, nn::gaussian_parameters(n));
  const nn::GaussianNode node = nn::record_gaussian(graph, parameters, inputs.v);
  return atoms ? record_masked_gaussian(graph, node, inputs.keep) : node.loss;
}

void draw(const DensitySettings& settings, const DensityShape& shape, const NamedWeights& weights,
          const std::string& source, const DensityContexts& contexts, Stream stream, MatrixView v) {
  NetworkRows network;
  network.z = network.graph.input("z", shape.parameters);
  network.state = network.graph.input("state", shape.state_inputs);
  const std::size_t size = nn::gaussian_parameters(shape.states);
  network.output = record_trunk(network.graph, "gaussian", settings, network.state, network.z, size);
  const std::vector<float> parameters = run_rows(network, weights, source, contexts.z, contexts.state);
  for (std::size_t r = 0; r < v.rows; ++r) {
    draw_gaussian(std::span(parameters).subspan(r * size, size), contexts.keep.row(r), stream, v.row(r));
  }
}

}  // namespace

DensityKind gaussian_density() { return {"gaussian", "one Gaussian with full covariance", record, draw}; }

}  // namespace catena::train

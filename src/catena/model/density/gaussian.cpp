// q(v | x^t, z) = N(v; L⁻¹b, (LᵀL)⁻¹): one Gaussian with a full covariance, b and L from a network (nn/gaussian.h). As
// L is lower triangular, −log q = Σ_i (½ e_i² − l_i) is a sum over coordinates given those before; a coordinate at its
// atom leaves its term out and still informs those after it.

#include "catena/nn/gaussian.h"

#include "catena/model/density/density.h"
#include "catena/model/density/gaussian_draw.h"
#include "catena/nn/layers.h"

namespace catena::model {
namespace {

nn::Value record_gaussian_density(nn::Graph& graph, const DensitySettings& settings, const DensityInputs& inputs,
                                  bool atoms) {
  const std::size_t n = graph.features(inputs.v);
  const nn::Value parameters =
      record_trunk(graph, "gaussian", settings, inputs.state, inputs.z, nn::gaussian_parameters(n));
  const nn::GaussianNode node = nn::record_gaussian(graph, parameters, inputs.v);
  return atoms ? record_masked_gaussian(graph, node, inputs.keep) : node.loss;
}

void draw_gaussian_density(const DensitySettings& settings, const DensityShape& shape, const NamedWeights& weights,
                           const std::string& source, const DensityContexts& contexts, Stream stream, MatrixView v) {
  const std::size_t size = nn::gaussian_parameters(shape.states);
  nn::Graph graph;
  const nn::Value z = graph.input("z", shape.parameters), state = graph.input("state", shape.state_inputs);
  const nn::Value output = record_trunk(graph, "gaussian", settings, state, z, size);
  const RowInput inputs[] = {{z, contexts.z}, {state, contexts.state}};
  const std::vector<float> parameters = run_rows(graph, inputs, output, weights, source);
  for (std::size_t r = 0; r < v.rows; ++r) {
    draw_gaussian(std::span(parameters).subspan(r * size, size), contexts.keep.row(r), stream, v.row(r));
  }
}

}  // namespace

DensityKind gaussian_density() {
  return {"gaussian", "one Gaussian with full covariance", false, record_gaussian_density, draw_gaussian_density};
}

}  // namespace catena::model

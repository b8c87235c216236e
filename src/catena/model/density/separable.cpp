// q(v | x^t, z) as in separable_gaussian.h. A coordinate at its atom leaves its term out and still informs those after
// it.

#include <algorithm>

#include "catena/model/density/density.h"
#include "catena/model/separable_gaussian.h"
#include "catena/nn/layers.h"

namespace catena::model {
namespace {

// Of the network of the state: the state's polynomials are inputs already. And of the products with earlier
// coordinates.
constexpr int state_layers = 2;
constexpr std::size_t state_products = 64, square_terms = 16;

SeparableGaussian separable_gaussian(const DensitySettings& settings, const DensityShape& shape) {
  return {.states = shape.states,
          .state_width = static_cast<std::size_t>(settings.width),
          .z_width = static_cast<std::size_t>(settings.z_width),
          .state_layers = state_layers,
          .z_layers = settings.layers,
          .forms = static_cast<std::size_t>(settings.terms),
          .products = state_products,
          .terms = square_terms};
}

/// Both parts, with one lane for each transition.
struct Parts {
  nn::Value coefficients, summary;
};

Parts record_parts(nn::Graph& graph, const SeparableGaussian& gaussian, const DensityInputs& inputs, nn::Value keep) {
  const nn::Value of_state = record_state(graph, gaussian, inputs.state);
  const nn::Value summary = record_gaussian_summary(graph, gaussian, of_state, inputs.v, keep);
  return {nn::repeat(graph, record_gaussian_coefficients(graph, gaussian, inputs.z)), summary};
}

nn::Value record_separable_density(nn::Graph& graph, const DensitySettings& settings, const DensityInputs& inputs,
                                   bool atoms) {
  const SeparableGaussian gaussian = separable_gaussian(settings, {.states = graph.features(inputs.v)});
  const Parts parts = record_parts(graph, gaussian, inputs, atoms ? inputs.keep : nn::Value());
  const nn::Value log_q = record_products(graph, layout_of(gaussian), parts.coefficients, parts.summary);
  return nn::scale(graph, -1, log_q);
}

/// One coordinate after the other: with u_m = 1 the summary holds e^(g_m) and ψ_m, and e_m ~ N(0, 1) is solved for u_m.
void draw_separable_density(const DensitySettings& settings, const DensityShape& shape, const NamedWeights& weights,
                            const std::string& source, const DensityContexts& contexts, Stream stream, MatrixView v) {
  const SeparableGaussian gaussian = separable_gaussian(settings, shape);
  const SeparableLayout layout = layout_of(gaussian);
  nn::Graph graph;
  DensityInputs inputs;
  inputs.z = graph.input("z", shape.parameters);
  inputs.state = graph.input("state", shape.state_inputs);
  inputs.v = graph.input("increment", shape.states);
  const Parts parts = record_parts(graph, gaussian, inputs, {});
  const nn::Value output = nn::concatenate(graph, {parts.coefficients, parts.summary});
  const std::size_t half = graph.features(parts.summary);
  Matrix u(v.rows, v.cols);
  for (std::size_t r = 0; r < v.rows; ++r) std::ranges::copy(v.row(r), u.row(r).begin());
  for (std::size_t m = 0; m < shape.states; ++m) {
    for (std::size_t r = 0; r < v.rows; ++r) u(r, m) = 1;
    const RowInput rows[] = {{inputs.z, contexts.z}, {inputs.state, contexts.state}, {inputs.v, u}};
    const std::vector<float> values = run_rows(graph, rows, output, weights, source);
    const std::size_t begin = layout.linear + m * layout.terms;
    for (std::size_t r = 0; r < v.rows; ++r) {
      const float *phi = values.data() + 2 * half * r + begin, *psi = phi + half;
      const double noise = stream.normal();
      double shift = 0;
      for (std::size_t j = 1; j < layout.terms; ++j) shift += static_cast<double>(phi[j]) * psi[j];
      if (contexts.keep(r, m) != 0) v(r, m) = (noise - shift) / (static_cast<double>(phi[0]) * psi[0]);
      u(r, m) = v(r, m);
    }
  }
}

}  // namespace

DensityKind separable_density() {
  return {"separable",
          "one Gaussian, of functions of the state and of the parameters multiplied",
          false,
          record_separable_density,
          draw_separable_density,
          separable_gaussian};
}

}  // namespace catena::model

#include "catena/model/density/density.h"

#include <algorithm>
#include <cmath>

#include "catena/nn/layers.h"
#include "catena/nn/rows.h"

namespace catena::model {

const Registry<DensityKind>& densities() {
  static const Registry<DensityKind> registry(
      "density", {gaussian_density(), separable_density(), mixture_density(), maf_density(), nsf_density()});
  return registry;
}

std::vector<std::string> density_choices() {
  std::vector<std::string> names = densities().names();
  names.insert(names.begin(), "auto");
  return names;
}

namespace {

/// Log odds of sitting at an atom. A boundary is sharp in x^t and vague in z, so a small network is enough.
nn::Value record_atom_logits(nn::Graph& graph, nn::Value state, nn::Value z, std::size_t atoms) {
  DensitySettings small;
  small.width = 32;
  small.layers = 2;
  small.terms = 0;
  return record_trunk(graph, "atom", small, state, z, atoms);
}

/// −log P(a) = Σ log(1 + e^η) − a η
nn::Value atom_cost(nn::Graph& graph, const DensityInputs& inputs, std::size_t atoms) {
  const nn::Value eta = record_atom_logits(graph, inputs.state, inputs.z, atoms);
  return nn::subtract(graph, nn::sum_features(graph, graph.apply("softplus", {eta})),
                      graph.apply("lane_dot", {inputs.atom, eta}));
}

}  // namespace

/// y = W h + V (φ ⊙ ψ): h a network of both, φ of z alone, ψ of the state alone. Drift and noise of most simulators are
/// sums of products of the two, which the second term says outright.
nn::Value record_trunk(nn::Graph& graph, const std::string& name, const DensitySettings& settings, nn::Value state,
                       nn::Value z, std::size_t outputs) {
  const auto width = static_cast<std::size_t>(settings.width), terms = static_cast<std::size_t>(settings.terms);
  const nn::Value of_state = nn::dense(graph, name + ".state", state, width);
  const nn::Value of_z = nn::repeat(graph, nn::dense(graph, name + ".z", z, width, {.bias = false}));
  nn::Value h = graph.apply("gelu", {of_z, of_state});
  for (int i = 1; i < settings.layers; ++i) {
    h = graph.apply("gelu", {nn::dense(graph, name + "." + std::to_string(i), h, width)});
  }
  if (terms == 0) return nn::dense(graph, name + ".out", h, outputs);
  const nn::Value psi = nn::add(graph, nn::dense(graph, name + ".psi.linear", state, terms),
                                nn::mlp(graph, name + ".psi", state, terms, 2, terms, "gelu"));
  const nn::Value phi = nn::add(graph, nn::dense(graph, name + ".phi.linear", z, terms),
                                nn::mlp(graph, name + ".phi", z, terms, 2, terms, "gelu"));
  const nn::Value products = nn::multiply(graph, nn::repeat(graph, phi), psi);
  return nn::dense(graph, name + ".out", nn::concatenate(graph, {h, products}), outputs);
}

DensityGraph record_density(const DensitySettings& settings, const DensityShape& shape, nn::Lanes z_lanes) {
  check_config("density", settings);
  DensityGraph result;
  nn::Graph& graph = result.graph;
  DensityInputs& inputs = result.inputs;
  inputs.z = graph.input("z", shape.parameters, z_lanes);
  inputs.state = graph.input("state", shape.state_inputs);
  inputs.v = graph.input("increment", shape.states);
  if (shape.atoms > 0) {
    inputs.atom = graph.input("atom", shape.atoms);
    inputs.keep = graph.input("keep", shape.states);
  }
  result.loss = densities().at("density", settings.density).record(graph, settings, inputs, shape.atoms > 0);
  if (shape.atoms > 0) result.loss = nn::add(graph, result.loss, atom_cost(graph, inputs, shape.atoms));
  return result;
}

DensityGraph record_atom_cost(const DensityShape& shape, nn::Lanes z_lanes) {
  DensityGraph result;
  result.inputs.z = result.graph.input("z", shape.parameters, z_lanes);
  result.inputs.state = result.graph.input("state", shape.state_inputs);
  result.inputs.atom = result.graph.input("atom", shape.atoms);
  result.loss = atom_cost(result.graph, result.inputs, shape.atoms);
  return result;
}

std::vector<float> run_rows(const nn::Graph& graph, std::span<const RowInput> inputs, nn::Value output,
                            const NamedWeights& named, const std::string& source) {
  const std::size_t outputs = graph.features(output), rows = inputs[0].rows.rows;
  std::vector<float> result(rows * outputs);
  nn::run_rows(
      graph, flat_weights(graph, named, source), rows,
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        for (const RowInput& input : inputs) nn::rows_to_lanes(input.rows, begin, workspace.value(input.value, lanes));
      },
      [&](nn::Workspace& workspace, std::size_t begin, std::size_t lanes) {
        nn::lanes_to_rows(ConstBlock(workspace.value(output, lanes)), begin,
                          BasicMatrixView<float>(result.data(), rows, outputs));
      });
  return result;
}

void atom_probabilities(const DensityShape& shape, const NamedWeights& weights, const std::string& source,
                        ConstMatrixView z, ConstMatrixView state, MatrixView out) {
  nn::Graph graph;
  const nn::Value z_in = graph.input("z", shape.parameters), state_in = graph.input("state", shape.state_inputs);
  const nn::Value logits = record_atom_logits(graph, state_in, z_in, shape.atoms);
  const RowInput inputs[] = {{z_in, z}, {state_in, state}};
  const std::vector<float> eta = run_rows(graph, inputs, logits, weights, source);
  for (std::size_t r = 0; r < z.rows; ++r) {
    for (std::size_t i = 0; i < shape.atoms; ++i) {
      out(r, i) = 1 / (1 + std::exp(-static_cast<double>(eta[r * shape.atoms + i])));
    }
  }
}

}  // namespace catena::model

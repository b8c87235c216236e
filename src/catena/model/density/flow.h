/// Masked autoregressive flows (Papamakarios et al. 2017, docs/refs.bib: papamakarios2017): v becomes standard normal
/// noise by a sequence of layers, in each of which coordinate i is transformed by a function whose parameters a network
/// makes from a context and the coordinates before i. Between layers the order of the coordinates is reversed. A kind
/// of flow is a transformation of one number (maf.cpp, nsf.cpp). Densities of transitions have x^t and z as context,
/// posteriors of whole series (posterior/) what an embedding made of the series, and likelihoods of that have z.
#pragma once

#include <functional>

#include "catena/model/density/density.h"

namespace catena::model {

struct FlowSettings {
  int layers = 5;
  int width = 50;    // units of the two masked layers of each transformation
  int bins = 8;      // of splines
  double bound = 4;  // of splines, in standard deviations of v: beyond, the tails are Gaussian
};

struct FlowTransform {
  std::string_view name;
  /// Parameters of one coordinate.
  std::size_t (*parameters)(const FlowSettings& settings);
  /// u = f(v) and log f'(v) of n coordinates, whose parameters stand one coordinate after the other.
  struct Transformed {
    nn::Value u, log_slope;
  };
  Transformed (*record)(nn::Graph& graph, const FlowSettings& settings, nn::Value parameters, nn::Value v);
  /// v with f(v) = u, one coordinate.
  double (*invert)(const FlowSettings& settings, std::span<const float> parameters, double u);
};

/// The transformations of a masked autoregressive flow (maf.cpp) and of a neural spline flow (nsf.cpp).
const FlowTransform& affine_transform();
const FlowTransform& spline_transform();

/// −log q(v | context) = ½‖u‖² − Σ_layers Σ_i log f', without ½ log 2π for each coordinate.
nn::Value record_flow(nn::Graph& graph, const FlowTransform& transform, const FlowSettings& settings, nn::Value context,
                      nn::Value v);

/// Records the context of a flow into a graph of its own: declares its inputs, with a row of values for each draw.
using FlowContext = std::function<nn::Value(nn::Graph& graph, std::vector<RowInput>& inputs)>;
/// One draw a row of v.
void draw_flow(const FlowTransform& transform, const FlowSettings& settings, const FlowContext& context,
               const NamedWeights& weights, const std::string& source, Stream stream, MatrixView v);

// Flows as densities of increments: the context is (x^t, z), and what sits at an atom.

nn::Value record_flow_density(nn::Graph& graph, const FlowTransform& transform, const DensitySettings& settings,
                              const DensityInputs& inputs, bool atoms);
/// Coordinates at their atoms stay as they are.
void draw_flow_density(const FlowTransform& transform, const DensitySettings& settings, const DensityShape& shape,
                       const NamedWeights& weights, const std::string& source, const DensityContexts& contexts,
                       Stream stream, MatrixView v);

/// The density of a flow by this transformation, which must be a constant of its file.
template <const FlowTransform& transform>
DensityKind flow_density(std::string_view help) {
  return {transform.name, help, true,
          [](nn::Graph& graph, const DensitySettings& settings, const DensityInputs& inputs, bool atoms) {
            return record_flow_density(graph, transform, settings, inputs, atoms);
          },
          [](const DensitySettings& settings, const DensityShape& shape, const NamedWeights& weights,
             const std::string& source, const DensityContexts& contexts, Stream stream,
             MatrixView v) { draw_flow_density(transform, settings, shape, weights, source, contexts, stream, v); }};
}

}  // namespace catena::model

/// Masked autoregressive flows (Papamakarios et al. 2017, docs/refs.bib: papamakarios2017): v becomes standard normal
/// noise by a sequence of layers, in each of which coordinate i is transformed by a function whose parameters a network
/// makes from x^t, z and the coordinates before i. Between layers the order of the coordinates is reversed. A kind of
/// flow is a transformation of one number (density_maf.cpp, density_nsf.cpp).
#pragma once

#include "catena/model/density/density.h"

namespace catena::model {

struct FlowTransform {
  std::string_view name;
  /// Parameters of one coordinate.
  std::size_t (*parameters)(const DensitySettings& settings);
  /// u = f(v) and log f'(v) of n coordinates, whose parameters stand one coordinate after the other.
  struct Transformed {
    nn::Value u, log_slope;
  };
  Transformed (*record)(nn::Graph& graph, const DensitySettings& settings, nn::Value parameters, nn::Value v);
  /// v with f(v) = u, one coordinate.
  double (*invert)(const DensitySettings& settings, std::span<const float> parameters, double u);
};

/// −log q = ½‖u‖² − Σ_layers Σ_i log f'.
nn::Value record_flow(nn::Graph& graph, const FlowTransform& transform, const DensitySettings& settings,
                      const DensityInputs& inputs, bool atoms);
/// Coordinates at their atoms stay as they are.
void draw_flow(const FlowTransform& transform, const DensitySettings& settings, const DensityShape& shape,
               const NamedWeights& weights, const std::string& source, const DensityContexts& contexts, Stream stream,
               MatrixView v);

/// The density of a flow by this transformation, which must be a constant of its file.
template <const FlowTransform& transform>
DensityKind flow_density(std::string_view help) {
  return {transform.name, help, true,
          [](nn::Graph& graph, const DensitySettings& settings, const DensityInputs& inputs, bool atoms) {
            return record_flow(graph, transform, settings, inputs, atoms);
          },
          [](const DensitySettings& settings, const DensityShape& shape, const NamedWeights& weights,
             const std::string& source, const DensityContexts& contexts, Stream stream,
             MatrixView v) { draw_flow(transform, settings, shape, weights, source, contexts, stream, v); }};
}

}  // namespace catena::model

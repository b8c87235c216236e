// A masked autoregressive flow: each layer shifts and scales, u_i = e^(l_i) v_i − b_i.

#include <cmath>

#include "catena/model/density/flow.h"
#include "catena/nn/layers.h"

namespace catena::model {
namespace {

FlowTransform::Transformed record_affine(nn::Graph& graph, const FlowSettings&, nn::Value parameters, nn::Value v) {
  const std::size_t n = graph.features(v);
  std::vector<nn::Value> b, l;
  for (std::size_t i = 0; i < n; ++i) {
    b.push_back(nn::slice(graph, parameters, 2 * i, 2 * i + 1));
    l.push_back(nn::slice(graph, parameters, 2 * i + 1, 2 * i + 2));
  }
  const nn::Value logs = nn::concatenate(graph, l);
  const nn::Value scaled = nn::multiply(graph, graph.apply("exp", {logs}), v);
  return {nn::subtract(graph, scaled, nn::concatenate(graph, b)), logs};
}

const FlowTransform affine{"maf", [](const FlowSettings&) { return std::size_t{2}; }, record_affine,
                           [](const FlowSettings&, std::span<const float> parameters, double u) {
                             return (u + parameters[0]) * std::exp(-static_cast<double>(parameters[1]));
                           }};

}  // namespace

const FlowTransform& affine_transform() { return affine; }

DensityKind maf_density() { return flow_density<affine>("a masked autoregressive flow"); }

}  // namespace catena::model

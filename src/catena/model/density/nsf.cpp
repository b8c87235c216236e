// A neural spline flow: each layer shifts and scales, w_i = e^(l_i) v_i − b_i, and bends the result by a monotone
// rational-quadratic spline (nn/kernels/rational_quadratic.h). Without the first the bins would have to find a
// transition whose noise is a thousandth of the spread of all increments.

#include <cmath>

#include "catena/model/density/flow.h"
#include "catena/nn/kernels/rational_quadratic.h"
#include "catena/nn/layers.h"

namespace catena::model {
namespace {

std::size_t bin_count(const FlowSettings& settings) { return static_cast<std::size_t>(settings.bins); }

std::size_t spline_parameters(const FlowSettings& settings) {
  return 2 + nn::spline::parameter_count(bin_count(settings));
}

FlowTransform::Transformed record_spline(nn::Graph& graph, const FlowSettings& settings, nn::Value parameters,
                                         nn::Value v) {
  const std::size_t n = graph.features(v), each = spline_parameters(settings);
  std::vector<nn::Value> b, l, raw;
  for (std::size_t i = 0; i < n; ++i) {
    b.push_back(nn::slice(graph, parameters, i * each, i * each + 1));
    l.push_back(nn::slice(graph, parameters, i * each + 1, i * each + 2));
    raw.push_back(nn::slice(graph, parameters, i * each + 2, (i + 1) * each));
  }
  const nn::Value logs = nn::concatenate(graph, l);
  const nn::Value w =
      nn::subtract(graph, nn::multiply(graph, graph.apply("exp", {logs}), v), nn::concatenate(graph, b));
  const nn::Value bent = graph.apply("rational_quadratic", {nn::concatenate(graph, raw), w}, {},
                                     {{"bins", settings.bins}, {"bound", settings.bound}});
  return {nn::slice(graph, bent, 0, n), nn::add(graph, logs, nn::slice(graph, bent, n, 2 * n))};
}

double invert_spline(const FlowSettings& settings, std::span<const float> parameters, double u) {
  const auto knots = nn::spline::knots<double>(bin_count(settings), settings.bound,
                                               [&](std::size_t i) { return static_cast<double>(parameters[2 + i]); });
  return (nn::spline::invert(knots, settings.bound, u) + parameters[0]) * std::exp(-static_cast<double>(parameters[1]));
}

const FlowTransform affine_spline{"nsf", spline_parameters, record_spline, invert_spline};

}  // namespace

const FlowTransform& spline_transform() { return affine_spline; }

DensityKind nsf_density() { return flow_density<affine_spline>("an autoregressive neural spline flow"); }

}  // namespace catena::model

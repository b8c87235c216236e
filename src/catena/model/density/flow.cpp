#include "catena/model/density/flow.h"

#include <algorithm>

#include "catena/nn/layers.h"

namespace catena::model {
namespace {

/// The conditioner of one layer: hidden units come in n groups, group g of which sees the first g coordinates, the
/// context, and groups up to g of the layer before; coordinate i takes its parameters from groups up to i. The same as
/// a network with masks, without the products that masks throw away.
nn::Value record_conditioner(nn::Graph& graph, const std::string& name, const FlowSettings& settings, nn::Value context,
                             nn::Value v, std::size_t each) {
  const std::size_t n = graph.features(v);
  const std::size_t width = std::max<std::size_t>(1, (static_cast<std::size_t>(settings.width) + n - 1) / n);
  std::vector<nn::Value> first, second, outputs;
  for (std::size_t g = 0; g < n; ++g) {
    const std::string group = name + "." + std::to_string(g);
    const nn::Value seen = g == 0 ? context : nn::concatenate(graph, {context, nn::slice(graph, v, 0, g)});
    first.push_back(graph.apply("gelu", {nn::dense(graph, group + ".first", seen, width)}));
    const nn::Value below = g == 0 ? first[0] : nn::concatenate(graph, first);
    second.push_back(graph.apply("gelu", {nn::dense(graph, group + ".second", below, width)}));
    const nn::Value hidden = g == 0 ? second[0] : nn::concatenate(graph, second);
    // Small at first, so that the flow begins near the identity.
    outputs.push_back(nn::dense(graph, group + ".out", hidden, each, {.scale = 0.1}));
  }
  return n == 1 ? outputs[0] : nn::concatenate(graph, outputs);
}

std::string layer_name(std::string_view flow, int layer) { return std::string(flow) + "." + std::to_string(layer); }

nn::Value reversed(nn::Graph& graph, nn::Value v) {
  std::vector<nn::Value> parts;
  for (std::size_t i = graph.features(v); i-- > 0;) parts.push_back(nn::slice(graph, v, i, i + 1));
  return nn::concatenate(graph, parts);
}

/// The context (x^t, z) of a density of increments.
nn::Value context_of(nn::Graph& graph, const DensityInputs& inputs, bool atoms) {
  const nn::Value z = nn::repeat(graph, inputs.z);
  return atoms ? nn::concatenate(graph, {inputs.state, inputs.atom, z}) : nn::concatenate(graph, {inputs.state, z});
}

FlowSettings flow_of(const DensitySettings& settings) {
  return {.layers = settings.flow_layers, .width = settings.flow_width, .bins = settings.bins};
}

}  // namespace

nn::Value record_flow(nn::Graph& graph, const FlowTransform& transform, const FlowSettings& settings, nn::Value context,
                      nn::Value v) {
  const std::size_t each = transform.parameters(settings);
  nn::Value log_slopes{};
  for (int k = 0; k < settings.layers; ++k) {
    if (k > 0 && graph.features(v) > 1) v = reversed(graph, v);
    const nn::Value parameters = record_conditioner(graph, layer_name(transform.name, k), settings, context, v, each);
    const FlowTransform::Transformed out = transform.record(graph, settings, parameters, v);
    v = out.u;
    const nn::Value slopes = nn::sum_features(graph, out.log_slope);
    log_slopes = k == 0 ? slopes : nn::add(graph, log_slopes, slopes);
  }
  return nn::subtract(graph, nn::scale(graph, 0.5, graph.apply("lane_dot", {v, v})), log_slopes);
}

void draw_flow(const FlowTransform& transform, const FlowSettings& settings, const FlowContext& context,
               const NamedWeights& weights, const std::string& source, Stream stream, MatrixView v) {
  const std::size_t n = v.cols, rows = v.rows, each = transform.parameters(settings);
  Matrix now(rows, n), before(rows, n);
  stream.fill_normal(now.values());
  for (int k = settings.layers; k-- > 0;) {
    nn::Graph graph;
    std::vector<RowInput> values;
    const nn::Value of_context = context(graph, values);
    const nn::Value known = graph.input("increment", n);
    values.push_back({known, before});
    const nn::Value parameters =
        record_conditioner(graph, layer_name(transform.name, k), settings, of_context, known, each);
    for (std::size_t i = 0; i < n; ++i) {  // coordinate i needs those before it
      const std::vector<float> all = run_rows(graph, values, parameters, weights, source);
      for (std::size_t r = 0; r < rows; ++r) {
        before(r, i) = transform.invert(settings, std::span(all).subspan((r * n + i) * each, each), now(r, i));
      }
    }
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t i = 0; i < n; ++i) now(r, i) = before(r, k > 0 ? n - 1 - i : i);
    }
  }
  for (std::size_t r = 0; r < rows; ++r) std::ranges::copy(now.row(r), v.row(r).begin());
}

nn::Value record_flow_density(nn::Graph& graph, const FlowTransform& transform, const DensitySettings& settings,
                              const DensityInputs& inputs, bool atoms) {
  return record_flow(graph, transform, flow_of(settings), context_of(graph, inputs, atoms), inputs.v);
}

void draw_flow_density(const FlowTransform& transform, const DensitySettings& settings, const DensityShape& shape,
                       const NamedWeights& weights, const std::string& source, const DensityContexts& contexts,
                       Stream stream, MatrixView v) {
  Matrix drawn(v.rows, v.cols);
  const auto context = [&](nn::Graph& graph, std::vector<RowInput>& values) {
    DensityInputs inputs;
    inputs.z = graph.input("z", shape.parameters);
    inputs.state = graph.input("state", shape.state_inputs);
    values = {{inputs.z, contexts.z}, {inputs.state, contexts.state}};
    if (shape.atoms > 0) {
      inputs.atom = graph.input("atom", shape.atoms);
      values.push_back({inputs.atom, contexts.atom});
    }
    return context_of(graph, inputs, shape.atoms > 0);
  };
  draw_flow(transform, flow_of(settings), context, weights, source, stream, drawn);
  for (std::size_t r = 0; r < v.rows; ++r) {
    for (std::size_t i = 0; i < v.cols; ++i) {
      if (contexts.keep(r, i) != 0) v(r, i) = drawn(r, i);
    }
  }
}

}  // namespace catena::model

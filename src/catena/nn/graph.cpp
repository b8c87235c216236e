#include "catena/nn/graph.h"

#include <cmath>

#include "catena/core/check.h"
#include "catena/nn/operation.h"

namespace catena::nn {

Value Graph::input(std::string name, std::size_t features, Lanes lanes) {
  check::at_least("graph.input", "features", features, std::size_t{1});
  check::that(inputs_.size() < 64, "graph.input", "the number of inputs", inputs_.size() + 1, "at most 64");
  Node node;
  node.features = features;
  node.lanes = lanes;
  node.depends_on = std::uint64_t{1} << inputs_.size();
  node.name = std::move(name);
  inputs_.push_back(static_cast<int>(nodes_.size()));
  nodes_.push_back(std::move(node));
  return {inputs_.back()};
}

Parameter Graph::parameter(ParameterInfo info) {
  check::that(info.size() > 0, "graph.parameter", info.name + ".size", info.size(), "at least 1");
  info.offset = parameter_count_;
  parameter_count_ += padded_lanes(info.size());
  parameters_.push_back(std::move(info));
  return {static_cast<int>(parameters_.size()) - 1};
}

Value Graph::apply(std::string_view operation, const std::vector<Value>& inputs,
                   const std::vector<Parameter>& parameters, Attributes attributes) {
  Node node;
  node.operation = &operations().at("graph.apply", operation);
  std::vector<const Node*> input_nodes;
  for (const Value input : inputs) {
    CATENA_ASSERT(input.node >= 0 && static_cast<std::size_t>(input.node) < nodes_.size());
    input_nodes.push_back(&nodes_[static_cast<std::size_t>(input.node)]);
    node.inputs.push_back(input.node);
    node.depends_on |= input_nodes.back()->depends_on;
  }
  std::vector<const ParameterInfo*> infos;
  for (const Parameter parameter : parameters) {
    infos.push_back(&parameters_[static_cast<std::size_t>(parameter.index)]);
    node.parameters.push_back(parameter.index);
  }
  node.attributes = std::move(attributes);
  ShapeCall shape{input_nodes, infos, node.attributes};
  node.operation->shape(shape);
  node.features = shape.features;
  node.lanes = shape.lanes;
  node.saved_features = shape.saved_features;
  node.scratch = shape.scratch;
  node.scratch_features = shape.scratch_features;
  node.reverse_in_place = shape.reverse_in_place;
  node.leaves = shape.leaves;
  nodes_.push_back(std::move(node));
  return {static_cast<int>(nodes_.size()) - 1};
}

std::size_t Graph::trainable_count() const {
  std::size_t count = 0;
  for (const ParameterInfo& info : parameters_) count += info.trainable ? info.size() : 0;
  return count;
}

AlignedVector<float> Graph::initial_weights(const Streams& streams) const {
  AlignedVector<float> weights(parameter_count_, 0.0F);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterInfo& info = parameters_[i];
    Stream stream = streams.stream("weights", i);
    const double scale =
        info.scale / (info.init == Init::scaled_normal ? std::sqrt(static_cast<double>(info.cols)) : 1);
    for (std::size_t k = 0; k < info.size(); ++k) {
      double value = info.init == Init::ones ? 1 : 0;
      if (info.init == Init::standard_normal) value = stream.normal();
      if (info.init == Init::scaled_normal) {
        do {
          value = stream.normal();
        } while (std::abs(value) > 2);
        value /= 0.87962566103423978;  // the deviation of a normal cut at ±2
      }
      weights[info.offset + k] = static_cast<float>(value * scale);
    }
  }
  return weights;
}

double Graph::forward_flops_per_lane() const {
  double flops = 0;
  for (const Node& node : nodes_) {
    if (node.operation == nullptr || node.lanes != Lanes::each()) continue;
    for (const int index : node.parameters) {
      const ParameterInfo& info = parameters_[static_cast<std::size_t>(index)];
      if (info.cols > 1 && info.trainable) flops += 2.0 * static_cast<double>(info.size());
    }
  }
  return flops;
}

}  // namespace catena::nn

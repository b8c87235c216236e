#include "catena/nn/graph.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/nn/operation.h"

namespace catena::nn {

namespace {

void check_attributes(const Operation& operation, const Attributes& attributes) {
  for (const Attribute& given : attributes.all()) {
    if (std::ranges::count(operation.attributes, given.name) == 0) {
      check::fail(
          operation.name, "an attribute", given.name,
          operation.attributes.empty() ? "left out" : fmt::format("one of {}", fmt::join(operation.attributes, ", ")));
    }
  }
  for (const std::string_view name : operation.attributes) {
    const auto times = std::ranges::count(attributes.all(), name, &Attribute::name);
    if (times != 1) {
      check::fail(operation.name, fmt::format("{}", name), times == 0 ? "missing" : "doubled", "given once");
    }
  }
}

}  // namespace

std::string to_string(const Shape& shape) { return fmt::format("[{}, {}, {}]", shape.y, shape.x, shape.channels); }

Value Graph::input(std::string name, Shape shape, Lanes lanes) {
  check::that(shape.size() > 0, "graph.input", "the shape of " + name, to_string(shape),
              "at least 1 in every direction");
  Node node;
  node.shape = shape;
  node.lanes = lanes;
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
  }
  std::vector<const ParameterInfo*> infos;
  for (const Parameter parameter : parameters) {
    infos.push_back(&parameters_[static_cast<std::size_t>(parameter.index)]);
    node.parameters.push_back(parameter.index);
  }
  check_attributes(*node.operation, attributes);
  node.attributes = std::move(attributes);
  ShapeCall call{input_nodes, infos, node.attributes};
  node.operation->shape(call);
  node.resolved = call.resolved;
  node.shape = call.shape;
  node.lanes = call.lanes;
  node.saved_features = call.saved_features;
  node.scratch = call.scratch;
  node.scratch_features = call.scratch_features;
  node.leaves = call.leaves;
  node.flops = call.flops;
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

Replay Graph::dependents(const std::vector<Value>& changed) const {
  std::vector<bool> marks(nodes_.size(), false);
  for (const Value input : changed) {
    CATENA_ASSERT(node(input).operation == nullptr);
    marks[static_cast<std::size_t>(input.node)] = true;
  }
  return dependents_of(std::move(marks));
}

Replay Graph::dependents_of_all_but(const std::vector<Value>& unchanged) const {
  std::vector<bool> marks(nodes_.size(), false);
  for (const int input : inputs_) marks[static_cast<std::size_t>(input)] = true;
  for (const Value input : unchanged) {
    CATENA_ASSERT(node(input).operation == nullptr);
    marks[static_cast<std::size_t>(input.node)] = false;
  }
  return dependents_of(std::move(marks));
}

Replay Graph::dependents_of(std::vector<bool> changed) const {
  Replay replay;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].operation == nullptr) continue;
    changed[i] =
        std::ranges::any_of(nodes_[i].inputs, [&](int input) { return changed[static_cast<std::size_t>(input)]; });
    if (changed[i]) replay.nodes.push_back(static_cast<int>(i));
  }
  return replay;
}

double Graph::forward_flops_per_lane() const {
  double flops = 0;
  for (const Node& node : nodes_) flops += node.lanes == Lanes::each() ? node.flops : 0;
  return flops;
}

}  // namespace catena::nn

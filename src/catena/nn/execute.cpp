#include "catena/nn/execute.h"

#include <algorithm>

#include "catena/core/check.h"
#include "catena/nn/flush_denormals.h"
#include "catena/nn/kernels/kernels.h"
#include "catena/nn/memory_plan.h"

namespace catena::nn {

namespace {

std::vector<bool> marked(std::size_t nodes, std::span<const Value> values) {
  std::vector<bool> marks(nodes, false);
  for (const Value value : values) marks[static_cast<std::size_t>(value.node)] = true;
  return marks;
}

}  // namespace

Workspace::Workspace(const Graph& graph, std::size_t lanes, const Purpose& purpose)
    : graph_(&graph), capacity_(lanes), reverse_once_(purpose.reverse_once) {
  CATENA_ASSERT(lanes > 0);
  CATENA_ASSERT(!reverse_once_ || purpose.tangents_of.empty());
  const auto nodes = graph.nodes();
  const std::size_t count = nodes.size();
  const std::vector<bool> gradient_inputs = marked(count, purpose.input_gradients);
  const std::vector<bool> tangent_inputs = marked(count, purpose.tangents_of);
  wants_gradient_.assign(count, false);
  std::vector<bool> has_tangent(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    const Node& node = nodes[i];
    if (node.operation == nullptr) {
      wants_gradient_[i] = gradient_inputs[i];
      has_tangent[i] = tangent_inputs[i];
      continue;
    }
    if (purpose.parameter_gradients) {
      for (const int p : node.parameters) {
        if (graph.parameters()[static_cast<std::size_t>(p)].trainable) wants_gradient_[i] = true;
      }
    }
    for (const int input : node.inputs) {
      const auto k = static_cast<std::size_t>(input);
      if (wants_gradient_[k]) wants_gradient_[i] = true;
      if (has_tangent[k]) has_tangent[i] = true;
    }
    check::that(!has_tangent[i] || node.operation->tangent != nullptr, "workspace",
                "an operation that tangents pass through", node.operation->name, "one that has a tangent");
    derivatives_ = derivatives_ || wants_gradient_[i] || has_tangent[i];
  }

  keeps_values_ = purpose.keep_values || derivatives_;
  const MemoryPlan plan = plan_memory(graph, capacity_, {wants_gradient_, has_tangent, derivatives_, keeps_values_});
  memory_.assign(plan.size, 0.0F);
  float* base = memory_.data();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t stride = lane_stride(nodes[i].lanes.count(capacity_));
    values_.push_back({base + plan.values[i], stride});
    gradients_.push_back({wants_gradient_[i] ? base + plan.gradients[i] : nullptr, stride});
    tangents_.push_back({has_tangent[i] ? base + plan.tangents[i] : nullptr, stride});
    saved_.push_back({derivatives_ ? base + plan.saved[i] : nullptr, stride});
  }
  scratch_ = base + plan.scratch;
  scratch_rows_ = base + plan.scratch_rows;

  step_of_node_.assign(count, -1);
  for (std::size_t i = 0; i < count; ++i) {
    const Node& node = nodes[i];
    if (node.operation == nullptr) continue;
    Step step;
    step.node = static_cast<int>(i);
    step.first_operand = operand_nodes_.size();
    step.operands = node.inputs.size();
    step.first_parameter = parameter_indices_.size();
    step.parameters = node.parameters.size();
    step.needs_reverse = wants_gradient_[i];
    step.needs_tangent = has_tangent[i];
    operand_nodes_.insert(operand_nodes_.end(), node.inputs.begin(), node.inputs.end());
    parameter_indices_.insert(parameter_indices_.end(), node.parameters.begin(), node.parameters.end());
    step_of_node_[i] = static_cast<int>(steps_.size());
    steps_.push_back(step);
  }
  operand_values_.resize(operand_nodes_.size());
  operand_gradients_.resize(operand_nodes_.size());
  operand_tangents_.resize(operand_nodes_.size());
  parameter_values_.resize(parameter_indices_.size());
  parameter_gradients_.resize(parameter_indices_.size());
  for (const int p : parameter_indices_) parameter_infos_.push_back(&graph.parameters()[static_cast<std::size_t>(p)]);
  has_gradient_.assign(count, 0);
  left_.resize(count);
  std::vector<std::size_t> left_count(count, 0);
  for (const Node& node : nodes) {
    if (!reverse_once_ || node.leaves.input < 0) continue;
    ++left_count[static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(node.leaves.input)])];
  }
  for (std::size_t i = 0; i < count; ++i) left_[i].reserve(left_count[i]);
  has_parameter_gradient_.assign(graph.parameters().size(), 0);
  accumulate_ = std::make_unique<bool[]>(operand_nodes_.size());
  accumulate_parameters_ = std::make_unique<bool[]>(parameter_indices_.size());
}

Block Workspace::block(const std::vector<Place>& places, int node, std::size_t lanes) const {
  const auto i = static_cast<std::size_t>(node);
  const Node& info = graph_->nodes()[i];
  return {places[i].data, info.features(), info.lanes.count(lanes), places[i].stride};
}

Block Workspace::saved(int node, std::size_t lanes) const {
  const auto i = static_cast<std::size_t>(node);
  const Node& info = graph_->nodes()[i];
  return {saved_[i].data, info.saved_features, info.lanes.count(lanes), saved_[i].stride};
}

Operands Workspace::operands(const Step& step, std::size_t lanes) const {
  const auto i = static_cast<std::size_t>(step.node);
  const Node& node = graph_->nodes()[i];
  return {std::span(operand_values_).subspan(step.first_operand, step.operands),
          std::span(parameter_values_).subspan(step.first_parameter, step.parameters),
          std::span(parameter_infos_).subspan(step.first_parameter, step.parameters),
          node.resolved,
          scratch_,
          {scratch_rows_, node.scratch_features, node.lanes.count(lanes), values_[i].stride},
          lanes};
}

void Workspace::bind(std::span<const float> weights, std::size_t lanes) {
  CATENA_ASSERT(lanes > 0 && lanes <= capacity_);
  CATENA_ASSERT(weights.size() == graph_->parameter_count());
  if (lanes != bound_lanes_) {
    for (std::size_t k = 0; k < operand_nodes_.size(); ++k) {
      operand_values_[k] = block(values_, operand_nodes_[k], lanes);
      operand_gradients_[k] = block(gradients_, operand_nodes_[k], lanes);
      operand_tangents_[k] = block(tangents_, operand_nodes_[k], lanes);
    }
    bound_lanes_ = lanes;
  }
  for (std::size_t k = 0; k < parameter_indices_.size(); ++k) {
    parameter_values_[k] = weights.data() + parameter_infos_[k]->offset;
  }
}

void Workspace::forward(std::span<const float> weights, std::size_t lanes) {
  const FlushDenormals mode;
  bind(weights, lanes);
  reversed_ = false;
  for (const Step& step : steps_) compute(step, lanes);
}

void Workspace::forward(std::span<const float> weights, std::size_t lanes, const Replay& changed) {
  const FlushDenormals mode;
  bind(weights, lanes);
  CATENA_ASSERT(keeps_values_ && !reverse_once_);
  for (const int node : changed.nodes) {
    compute(steps_[static_cast<std::size_t>(step_of_node_[static_cast<std::size_t>(node)])], lanes);
  }
}

void Workspace::compute(const Step& step, std::size_t lanes) {
  const Node& node = graph_->nodes()[static_cast<std::size_t>(step.node)];
  node.operation->forward({operands(step, lanes), block(values_, step.node, lanes), saved(step.node, lanes),
                           step.needs_reverse || step.needs_tangent});
}

/// Adds what was left elsewhere to a node's gradient.
void Workspace::collect_gradient(int node, std::size_t lanes) {
  const auto i = static_cast<std::size_t>(node);
  if (left_[i].empty()) return;
  kernels::add_blocks(left_[i], block(gradients_, node, lanes), has_gradient_[i] != 0);
  has_gradient_[i] = 1;
}

void Workspace::reverse(std::span<const float> weights, std::size_t lanes, Value output,
                        std::span<float> weight_gradients) {
  const FlushDenormals mode;
  CATENA_ASSERT(!reversed_);
  reversed_ = reverse_once_;
  bind(weights, lanes);
  for (std::size_t k = 0; k < parameter_indices_.size(); ++k) {
    const bool wanted = !weight_gradients.empty() && parameter_infos_[k]->trainable;
    parameter_gradients_[k] = wanted ? weight_gradients.data() + parameter_infos_[k]->offset : nullptr;
  }
  std::ranges::fill(has_parameter_gradient_, char{0});
  std::ranges::fill(has_gradient_, char{0});
  has_gradient_[static_cast<std::size_t>(output.node)] = 1;
  for (auto& left : left_) left.clear();
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    const auto i = static_cast<std::size_t>(step->node);
    if (!step->needs_reverse) continue;
    collect_gradient(step->node, lanes);
    if (!has_gradient_[i]) continue;
    const Node& node = graph_->nodes()[i];
    for (std::size_t k = step->first_operand; k < step->first_operand + step->operands; ++k) {
      const auto input = static_cast<std::size_t>(operand_nodes_[k]);
      if (reverse_once_ && static_cast<int>(k - step->first_operand) == node.leaves.input) {
        const std::size_t row = node.leaves.first_row;
        if (operand_gradients_[k].data != nullptr) {
          left_[input].push_back(saved(step->node, lanes).slice_features(row, row + operand_gradients_[k].features));
        }
        continue;
      }
      // The same node may stand twice among the operands: its second contribution is added to the first.
      accumulate_[k] = has_gradient_[input] != 0;
      if (operand_gradients_[k].data != nullptr) has_gradient_[input] = 1;
    }
    // The first to write a parameter's gradient overwrites it: nobody need clear it before.
    for (std::size_t k = step->first_parameter; k < step->first_parameter + step->parameters; ++k) {
      char& written = has_parameter_gradient_[static_cast<std::size_t>(parameter_indices_[k])];
      accumulate_parameters_[k] = written != 0;
      if (parameter_gradients_[k] != nullptr) written = 1;
    }
    node.operation->reverse(
        {operands(*step, lanes), block(values_, step->node, lanes), saved(step->node, lanes), reverse_once_,
         block(gradients_, step->node, lanes),
         std::span(operand_gradients_).subspan(step->first_operand, step->operands),
         std::span<const bool>(accumulate_.get() + step->first_operand, step->operands),
         std::span(parameter_gradients_).subspan(step->first_parameter, step->parameters),
         std::span<const bool>(accumulate_parameters_.get() + step->first_parameter, step->parameters)});
  }
  // Constants, and what the output does not depend on.
  for (std::size_t p = 0; p < has_parameter_gradient_.size() && !weight_gradients.empty(); ++p) {
    if (has_parameter_gradient_[p] != 0) continue;
    const ParameterInfo& info = graph_->parameters()[p];
    std::ranges::fill(weight_gradients.subspan(info.offset, info.size()), 0.0F);
  }
  // An input whose gradient was wanted but that the output does not depend on: zero, not what was left there.
  for (const int input : graph_->inputs()) {
    const auto i = static_cast<std::size_t>(input);
    collect_gradient(input, lanes);
    if (!wants_gradient_[i] || has_gradient_[i]) continue;
    const Block gradient = block(gradients_, input, lanes);
    std::fill_n(gradient.data, gradient.features * gradient.stride, 0.0F);
  }
}

void Workspace::tangents(std::span<const float> weights, std::size_t lanes) {
  const FlushDenormals mode;
  bind(weights, lanes);
  for (const Step& step : steps_) {
    if (!step.needs_tangent) continue;
    const Node& node = graph_->nodes()[static_cast<std::size_t>(step.node)];
    node.operation->tangent({operands(step, lanes), block(values_, step.node, lanes), saved(step.node, lanes),
                             std::span(operand_tangents_).subspan(step.first_operand, step.operands),
                             block(tangents_, step.node, lanes)});
  }
}

}  // namespace catena::nn

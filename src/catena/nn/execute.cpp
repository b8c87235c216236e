#include "catena/nn/execute.h"

#include <algorithm>

#include "catena/core/check.h"
#include "catena/nn/flush_denormals.h"
#include "catena/nn/kernels/kernels.h"

namespace catena::nn {

namespace {

/// Distance between features in memory: an odd number of cache lines, because a power of two would put all features of
/// a lane into the same few sets of the cache (at 256 lanes that costs a tenth of the speed).
std::size_t stride_of(std::size_t lanes) {
  const std::size_t lines = padded_lanes(lanes) / 16;
  return 16 * (lines | 1);
}

/// Hands out places in one piece of memory. What is taken until some time goes back then and is handed out again.
class Arena {
 public:
  std::size_t take(std::size_t floats) {
    const std::size_t offset = size_;
    size_ += padded_lanes(floats);
    return offset;
  }

  /// Alive at `from` ≤ time ≤ `until`. Calls come in the order of `from`.
  std::size_t take_until(std::size_t floats, std::size_t from, std::size_t until) {
    for (Piece& piece : pieces_) {
      if (piece.until < from && piece.floats == padded_lanes(floats)) {
        piece.until = until;
        return piece.offset;
      }
    }
    pieces_.push_back({take(floats), padded_lanes(floats), until});
    return pieces_.back().offset;
  }

  /// What take_until() gave lives longer.
  void keep_until(std::size_t offset, std::size_t until) {
    for (Piece& piece : pieces_) {
      if (piece.offset == offset) piece.until = until;
    }
  }

  void forget() { pieces_.clear(); }
  std::size_t size() const { return size_; }

 private:
  struct Piece {
    std::size_t offset, floats, until;
  };
  std::vector<Piece> pieces_;
  std::size_t size_ = 0;
};

bool contains(std::span<const Value> values, int node) {
  return std::ranges::any_of(values, [&](Value v) { return v.node == node; });
}

/// Where a value lies inside another: the parts of a concatenation that nobody else consumes are computed in their
/// places, so that it need not copy.
struct Inside {
  int whole = -1;  // none
  std::size_t first_feature = 0;
};

std::vector<Inside> places_inside(std::span<const Node> nodes) {
  std::vector<int> uses(nodes.size(), 0);
  for (const Node& node : nodes) {
    for (const int input : node.inputs) ++uses[static_cast<std::size_t>(input)];
  }
  std::vector<Inside> inside(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].operation == nullptr || nodes[i].operation->name != "concatenate") continue;
    std::size_t feature = 0;
    for (const int input : nodes[i].inputs) {
      const auto k = static_cast<std::size_t>(input);
      // One level only: a concatenation within another is copied.
      const bool computed = nodes[k].operation != nullptr && nodes[k].operation->name != "concatenate";
      if (computed && uses[k] == 1) inside[k] = {static_cast<int>(i), feature};
      feature += nodes[k].features;
    }
  }
  return inside;
}

}  // namespace

Workspace::Workspace(const Graph& graph, std::size_t lanes, const Purpose& purpose)
    : graph_(&graph), capacity_(lanes), reverse_once_(purpose.reverse_once) {
  CATENA_ASSERT(lanes > 0);
  CATENA_ASSERT(!reverse_once_ || purpose.tangents_of.empty());
  const auto nodes = graph.nodes();
  const std::size_t count = nodes.size();
  wants_gradient_.assign(count, false);
  std::vector<bool> has_tangent(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    const Node& node = nodes[i];
    if (node.operation == nullptr) {
      wants_gradient_[i] = contains(purpose.input_gradients, static_cast<int>(i));
      has_tangent[i] = contains(purpose.tangents_of, static_cast<int>(i));
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
    derivatives_ = derivatives_ || wants_gradient_[i] || has_tangent[i];
  }

  keeps_values_ = purpose.keep_values || derivatives_;

  // Who is alive when: a value from its node to its last consumer, a gradient from the last consumer back to its node.
  std::vector<std::size_t> last_use(count, count);  // count: nothing consumes it, so it is a result and stays
  for (std::size_t i = 0; i < count; ++i) {
    for (const int input : nodes[i].inputs) last_use[static_cast<std::size_t>(input)] = i;
  }
  const std::vector<Inside> inside = places_inside(nodes);
  std::vector<std::size_t> begins(count);  // when a value's memory is first written: for a whole, with its first part
  for (std::size_t i = count; i-- > 0;) {
    begins[i] = i;
    for (const int input : nodes[i].inputs) {
      if (inside[static_cast<std::size_t>(input)].whole == static_cast<int>(i)) {
        begins[i] = std::min(begins[i], static_cast<std::size_t>(input));
      }
    }
  }
  Arena arena;
  std::vector<std::size_t> value(count), gradient(count), tangent(count), kept(count);
  std::size_t scratch = 0, scratch_rows = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t stride = stride_of(nodes[i].lanes.count(capacity_));
    const std::size_t size = nodes[i].features * stride;
    const auto take_value = [&](std::size_t node) {
      const bool stays = keeps_values_ || nodes[node].operation == nullptr || last_use[node] == count;
      const std::size_t floats = nodes[node].features * stride;
      value[node] = stays ? arena.take(floats) : arena.take_until(floats, i, last_use[node]);
    };
    if (inside[i].whole >= 0) {
      const auto whole = static_cast<std::size_t>(inside[i].whole);
      if (begins[whole] == i) take_value(whole);
      value[i] = value[whole] + inside[i].first_feature * stride;
    } else if (begins[i] == i) {
      take_value(i);
    }
    tangent[i] = arena.take(has_tangent[i] ? size : 0);
    kept[i] = arena.take(derivatives_ ? nodes[i].saved_features * stride : 0);
    scratch = std::max(scratch, nodes[i].scratch);
    scratch_rows = std::max(scratch_rows, nodes[i].scratch_features * stride);
  }
  arena.forget();
  for (std::size_t i = count; i-- > 0;) {  // the reverse pass runs backwards: its clock is count − i
    if (!wants_gradient_[i]) continue;
    const std::size_t size = nodes[i].features * stride_of(nodes[i].lanes.count(capacity_));
    const bool stays = nodes[i].operation == nullptr || last_use[i] == count;
    gradient[i] = stays ? arena.take(size) : 0;
  }
  // In place, a gradient needs no memory of its own that a store would have to wait for. Not where the caller wrote the
  // output's gradient, who may want to use it again, and not within a concatenation's.
  const auto takes_the_place = [&](std::size_t i, std::size_t user) {
    const Node& node = nodes[user];
    return node.reverse_in_place && std::ranges::count(node.inputs, static_cast<int>(i)) == 1 &&
           node.inputs[0] == static_cast<int>(i) && nodes[i].features == node.features &&
           nodes[i].lanes == node.lanes && last_use[user] != count && inside[user].whole < 0;
  };
  for (std::size_t user = count; user-- > 0;) {  // first written when its last consumer is replayed
    for (std::size_t i = 0; i < user; ++i) {
      if (!wants_gradient_[i] || last_use[i] != user || nodes[i].operation == nullptr) continue;
      const std::size_t stride = stride_of(nodes[i].lanes.count(capacity_));
      if (inside[i].whole >= 0) {
        gradient[i] = gradient[user] + inside[i].first_feature * stride;  // the whole's came first
      } else if (takes_the_place(i, user)) {
        gradient[i] = gradient[user];
        arena.keep_until(gradient[i], count - begins[i]);
      } else {
        gradient[i] = arena.take_until(nodes[i].features * stride, count - user, count - begins[i]);
      }
    }
  }
  const std::size_t scratch_offset = arena.take(scratch);
  const std::size_t scratch_rows_offset = arena.take(scratch_rows);
  memory_.assign(arena.size(), 0.0F);
  float* base = memory_.data();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t stride = stride_of(nodes[i].lanes.count(capacity_));
    values_.push_back({base + value[i], stride});
    gradients_.push_back({wants_gradient_[i] ? base + gradient[i] : nullptr, stride});
    tangents_.push_back({has_tangent[i] ? base + tangent[i] : nullptr, stride});
    saved_.push_back({derivatives_ ? base + kept[i] : nullptr, stride});
  }
  scratch_ = base + scratch_offset;
  scratch_rows_ = base + scratch_rows_offset;

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
  for (const Node& node : nodes) {
    if (!reverse_once_ || node.leaves.input < 0) continue;
    auto& left = left_[static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(node.leaves.input)])];
    left.reserve(left.capacity() + 1);
  }
  has_parameter_gradient_.assign(graph.parameters().size(), 0);
  accumulate_ = std::make_unique<bool[]>(operand_nodes_.size());
  accumulate_parameters_ = std::make_unique<bool[]>(parameter_indices_.size());
}

Block Workspace::block(const std::vector<Place>& places, int node, std::size_t lanes) const {
  const auto i = static_cast<std::size_t>(node);
  const Node& info = graph_->nodes()[i];
  return {places[i].data, info.features, info.lanes.count(lanes), places[i].stride};
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
          node.attributes,
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

void Workspace::forward(std::span<const float> weights, std::size_t lanes, std::uint64_t changed) {
  const FlushDenormals mode;
  bind(weights, lanes);
  CATENA_ASSERT((keeps_values_ && !reverse_once_) || changed == all_inputs);
  reversed_ = false;
  for (const Step& step : steps_) {
    const Node& node = graph_->nodes()[static_cast<std::size_t>(step.node)];
    if ((node.depends_on & changed) == 0 && changed != all_inputs) continue;
    node.operation->forward({operands(step, lanes), block(values_, step.node, lanes), saved(step.node, lanes),
                             step.needs_reverse || step.needs_tangent});
  }
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

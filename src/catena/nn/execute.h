/// Replays a graph on lane blocks. A Workspace owns all memory that a replay needs, made once per thread; replaying
/// allocates nothing, locks nothing, and makes one indirect call per node and block.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/nn/graph.h"
#include "catena/nn/operation.h"

namespace catena::nn {

/// What a workspace is made for.
struct Purpose {
  bool parameter_gradients = false;
  bool keep_values = false;  // every node's value can be read after forward(), and forward() may be partial
  std::vector<Value> input_gradients = {};  // inputs whose gradients are wanted
  std::vector<Value> tangents_of = {};      // inputs that tangents start from
  bool reverse_once = false;  // every forward() is complete and reversed once at most: what it kept may be overwritten

  /// Values of inputs and of nodes that nothing consumes; the others share memory, which then stays in the cache.
  static Purpose inference() { return {}; }
  static Purpose training() { return {true, true, {}, {}}; }
};

/// Values, gradients and tangents for blocks of up to `lanes` lanes. Derivatives need all values, so they are kept
/// then. Tangents through an operation that has none are an InputError.
class Workspace {
 public:
  Workspace(const Graph& graph, std::size_t lanes, const Purpose& purpose);

  std::size_t capacity() const { return capacity_; }
  const Graph& graph() const { return *graph_; }

  /// The first `lanes` lanes of a node's value: inputs are written here before forward(), results read after it.
  Block value(Value value, std::size_t lanes) { return block(values_, value.node, lanes); }
  /// ∂L/∂value: seeded at the outputs before reverse(), read at the inputs after it.
  Block gradient(Value value, std::size_t lanes) { return block(gradients_, value.node, lanes); }
  Block tangent(Value value, std::size_t lanes) { return block(tangents_, value.node, lanes); }

  /// Computes every node.
  void forward(std::span<const float> weights, std::size_t lanes);
  /// Computes only what depends on the inputs that changed since the last call (Graph::dependents), for at most as
  /// many lanes and with the same weights; values must be kept then.
  void forward(std::span<const float> weights, std::size_t lanes, const Replay& changed);

  /// From ∂L/∂output, written into gradient(output) by the caller, to the gradients of parameters (written into
  /// `weight_gradients`, as long as the weights; empty if not wanted) and inputs. Follows a forward() of the same
  /// lanes.
  void reverse(std::span<const float> weights, std::size_t lanes, Value output, std::span<float> weight_gradients);

  /// From input tangents, written into tangent(input) by the caller, to the tangent of every node. Follows a forward().
  void tangents(std::span<const float> weights, std::size_t lanes);

 private:
  struct Place {
    float* data = nullptr;
    std::size_t stride = 0;
  };
  struct Step {  // what one node needs at a replay, laid out once
    int node = 0;
    std::size_t first_operand = 0, operands = 0;      // into the operand arrays below
    std::size_t first_parameter = 0, parameters = 0;  // into the parameter arrays below
    bool needs_reverse = false, needs_tangent = false;
  };

  Block block(const std::vector<Place>& places, int node, std::size_t lanes) const;
  Block saved(int node, std::size_t lanes) const;
  Operands operands(const Step& step, std::size_t lanes) const;
  void bind(std::span<const float> weights, std::size_t lanes);
  void compute(const Step& step, std::size_t lanes);
  void collect_gradient(int node, std::size_t lanes);

  const Graph* graph_;
  std::size_t capacity_;
  bool derivatives_ = false;
  bool keeps_values_ = false;
  bool reverse_once_;
  bool reversed_ = false;  // what the last forward() kept may have been overwritten
  AlignedVector<float> memory_;
  std::vector<Place> values_, gradients_, tangents_, saved_;
  float *scratch_ = nullptr, *scratch_rows_ = nullptr;
  std::vector<Step> steps_;
  std::vector<int> step_of_node_;  // −1 for inputs
  std::vector<bool> wants_gradient_;
  std::vector<int> operand_nodes_, parameter_indices_;
  // Per replay: views of the operands for the current number of lanes, and pointers into the current weights.
  std::size_t bound_lanes_ = 0;
  std::vector<ConstBlock> operand_values_, operand_tangents_;
  std::vector<Block> operand_gradients_;
  std::vector<const float*> parameter_values_;
  std::vector<float*> parameter_gradients_;
  std::vector<const ParameterInfo*> parameter_infos_;
  std::vector<char> has_gradient_;             // per node: its gradient holds something
  std::vector<std::vector<ConstBlock>> left_;  // per node: parts of its gradient that its consumers left elsewhere
  std::vector<char> has_parameter_gradient_;   // per parameter of the graph
  std::unique_ptr<bool[]> accumulate_, accumulate_parameters_;
};

}  // namespace catena::nn

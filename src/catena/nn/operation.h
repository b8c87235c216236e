/// What an operation of the graph is: a rule for shapes, three functions on lane blocks, and what the engine may do
/// with them. A new operation is one file in ops/ and one line in registry.cpp; the engine knows none by name, and the
/// gradient tests find it in the registry.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/registry.h"
#include "catena/nn/graph.h"

namespace catena::nn {

/// What a shape rule sees and decides. It throws InputError for operands that do not fit.
struct ShapeCall {
  std::span<const Node* const> inputs;
  std::span<const ParameterInfo* const> parameters;
  const Attributes& attributes;  // exactly those that the entry names
  // decided by the rule:
  Resolved resolved = {};  // what the functions need of attributes and shapes
  Shape shape = {};
  Lanes lanes{};
  std::size_t saved_features = 0;
  std::size_t scratch = 0;           // floats in all
  std::size_t scratch_features = 0;  // floats per lane
  Leaves leaves{};                   // see Node
  double flops = 0;                  // see Node
};

/// What every replay of a node on a block sees. Blocks carry the number of lanes that count; memory up to the next
/// multiple of 16 lanes may be read and written, but must not influence the lanes that count.
struct Operands {
  std::span<const ConstBlock> inputs;
  std::span<const float* const> parameters;
  std::span<const ParameterInfo* const> shapes;
  const Resolved& resolved;
  float* scratch;           // as many floats as the shape rule asked for, not kept between calls
  Block scratch_rows;       // likewise, `scratch_features` × lanes
  std::size_t block_lanes;  // lanes of the block, whatever lanes this node has
};

struct ForwardCall : Operands {
  Block output;
  Block saved;       // valid if `derivatives`
  bool derivatives;  // a reverse or tangent pass follows: keep what it needs in `saved`
};

/// Adds ∂L/∂input and ∂L/∂parameter, given ∂L/∂output. A null pointer means that nobody wants that gradient;
/// `accumulate[i]` false means that the gradient's memory holds nothing yet and is to be overwritten; likewise
/// `accumulate_parameters`.
struct ReverseCall : Operands {
  ConstBlock output;
  Block saved;
  bool saved_is_free;  // nobody reads `saved` after this call: it may be overwritten, and Node::leaves is expected
  ConstBlock output_gradient;
  std::span<const Block> input_gradients;  // data null if not wanted
  std::span<const bool> accumulate;
  std::span<float* const> parameter_gradients;  // null if not wanted
  std::span<const bool> accumulate_parameters;
};

/// Pushes tangents forward: output_tangent = Σ_i ∂output/∂input_i · input_tangent_i. A null input tangent is zero.
struct TangentCall : Operands {
  ConstBlock output;
  ConstBlock saved;
  std::span<const ConstBlock> input_tangents;
  Block output_tangent;
};

/// What the engine may do with an operation.
struct Traits {
  /// The gradient of the first input may be written where the output's stands.
  bool reverse_in_place = false;
  /// The output is the inputs, one after the other: one that nobody else uses is computed in its place, and its
  /// gradient stands in the output's.
  bool joins_inputs = false;
};

struct Operation {
  std::string_view name;
  std::string_view formula;
  void (*shape)(ShapeCall&);
  void (*forward)(const ForwardCall&);
  void (*reverse)(const ReverseCall&);
  void (*tangent)(const TangentCall&);            // null: a workspace for tangents through it cannot be made
  std::vector<std::string_view> attributes = {};  // the names of its attributes
  Traits traits = {};
};

/// All operations.
const Registry<Operation>& operations();

}  // namespace catena::nn

/// A network as a recorded graph of operations on lane blocks. Recording happens once; what is recorded is replayed on
/// any number of blocks (execute.h): forward, reverse and tangent. Nothing here knows about inference.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/nn/attributes.h"

namespace catena::nn {

struct Operation;

/// How many values a node has along the lanes: one for each lane, one for every group of `group` lanes, or one in all.
struct Lanes {
  std::size_t group = 1;  // 1: each lane; g: one per g lanes; 0: one in all

  static constexpr Lanes each() { return {1}; }
  static constexpr Lanes one() { return {0}; }
  static constexpr Lanes grouped(std::size_t lanes_per_group) { return {lanes_per_group}; }

  /// The number of values for a block of so many lanes.
  constexpr std::size_t count(std::size_t lanes) const { return group == 0 ? 1 : (lanes + group - 1) / group; }
  bool operator==(const Lanes&) const = default;
};

/// What a node holds in every lane: `channels` numbers at each of y × x places, of which feature (iy·x + ix)·channels +
/// c is one, so that a row of places is one piece of memory. A plain vector has one place; a series has y = time, x
/// = 1.
struct Shape {
  std::size_t y = 1, x = 1, channels = 0;

  constexpr Shape() = default;
  constexpr Shape(std::size_t features) : channels(features) {}  // implicit: a plain vector is today's usual case
  constexpr Shape(std::size_t rows, std::size_t cols, std::size_t channel_count)
      : y(rows), x(cols), channels(channel_count) {}

  constexpr std::size_t places() const { return y * x; }
  constexpr std::size_t size() const { return y * x * channels; }
  bool operator==(const Shape&) const = default;
};

/// "[3, 5, 2]"
std::string to_string(const Shape& shape);

/// A handle to one node of a graph.
struct Value {
  int node = -1;
};

/// A handle to one array of weights.
struct Parameter {
  int index = -1;
};

/// How weights start.
enum class Init {
  zeros,
  ones,
  scaled_normal,   ///< N(0, 1/columns), cut at two deviations: keeps a layer's output at its input's scale
  standard_normal  ///< N(0, 1), for random features
};

struct ParameterInfo {
  std::string name;
  std::size_t rows = 0, cols = 0;
  Init init = Init::zeros;
  double scale = 1;        // factor on the initial values
  bool trainable = true;   // false: a constant that is stored with the weights
  bool decays = true;      // whether weight decay applies (matrices yes, biases and norms no)
  std::size_t offset = 0;  // place in the flat array of all weights; a multiple of 16

  std::size_t size() const { return rows * cols; }
};

/// Where a reverse pass leaves the gradient of one of its inputs.
struct Leaves {
  int input = -1;             // none
  std::size_t first_row = 0;  // of what the node keeps from its forward pass
};

struct Node {
  const Operation* operation = nullptr;  // null: an input
  std::vector<int> inputs;
  std::vector<int> parameters;
  Attributes attributes;
  Resolved resolved;  // what the operation made of attributes and shapes
  Shape shape;
  Lanes lanes;
  std::size_t saved_features = 0;    // floats per lane kept from the forward pass for derivatives
  std::size_t scratch = 0;           // floats of memory in all
  std::size_t scratch_features = 0;  // floats of memory per lane
  Leaves leaves;     // where what was kept may be overwritten: this gradient, for the engine to add from there
  double flops = 0;  // of products with weights, in one forward pass of one lane (a multiply-add is two)
  std::string name;  // inputs only

  std::size_t features() const { return shape.size(); }
};

/// What to compute again after some inputs changed. Found once, by Graph::dependents, and replayed often.
struct Replay {
  std::vector<int> nodes;  // in the order in which they were recorded
};

/// The recording. Values are appended in the order in which they will be computed.
class Graph {
 public:
  Value input(std::string name, Shape shape, Lanes lanes = Lanes::each());
  Parameter parameter(ParameterInfo info);
  /// Appends one operation; its registry entry checks shapes and says what comes out. All of the entry's attributes
  /// must be given, and no others.
  Value apply(std::string_view operation, const std::vector<Value>& inputs,
              const std::vector<Parameter>& parameters = {}, Attributes attributes = {});

  std::span<const Node> nodes() const { return nodes_; }
  const Node& node(Value value) const { return nodes_[static_cast<std::size_t>(value.node)]; }
  const Shape& shape(Value value) const { return node(value).shape; }
  std::size_t features(Value value) const { return node(value).features(); }
  std::span<const ParameterInfo> parameters() const { return parameters_; }
  std::span<const int> inputs() const { return inputs_; }
  /// Length of the flat array that holds all weights.
  std::size_t parameter_count() const { return parameter_count_; }
  /// Number of weights that training changes (padding and constants not counted).
  std::size_t trainable_count() const;

  /// A fresh set of weights; parameter i draws from stream("weights", i), so that adding a layer leaves others alone.
  AlignedVector<float> initial_weights(const Streams& streams) const;

  /// What depends on any of these inputs.
  Replay dependents(const std::vector<Value>& changed) const;
  /// What depends on any other input.
  Replay dependents_of_all_but(const std::vector<Value>& unchanged) const;

  /// Floating-point operations of the products with weights in one forward pass of one lane. Values that are shared by
  /// several lanes are not counted.
  double forward_flops_per_lane() const;

 private:
  Replay dependents_of(std::vector<bool> changed) const;

  std::vector<Node> nodes_;
  std::vector<ParameterInfo> parameters_;
  std::vector<int> inputs_;
  std::size_t parameter_count_ = 0;
};

}  // namespace catena::nn

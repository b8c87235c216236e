/// The operations, one function each that returns the registry entry. Called by ops/registry.cpp only; the helpers are
/// for the files in this folder.
#pragma once

#include <fmt/format.h>

#include "catena/core/check.h"
#include "catena/nn/kernels/products.h"
#include "catena/nn/operation.h"

namespace catena::nn::ops {

Operation dense();
Operation masked_dense();
Operation bias();
Operation add();
Operation multiply();
Operation scale();
Operation concatenate();
Operation slice();
Operation gelu();
Operation silu();
Operation tanh();
Operation sigmoid();
Operation softplus();
Operation relu();
Operation exp();
Operation log();
Operation layer_norm();
Operation residual_layer();
Operation lane_dot();
Operation lane_matvec();
Operation scale_lanes();
Operation lane_pairs();
Operation unfold_lanes();
Operation next_lane();
Operation logsumexp_lanes();
Operation logsumexp_features();
Operation rational_quadratic();
Operation sum_groups();
Operation repeat();
Operation fourier();
Operation conv2d();
Operation group_norm();
Operation gru();
Operation sum_places();
Operation distance_correlation();

/// Checks the numbers of operands and that all inputs agree along the lanes, which the result then has too.
inline void expect(std::string_view operation, ShapeCall& call, std::size_t inputs, std::size_t parameters) {
  check::equal(operation, "the number of inputs", call.inputs.size(), inputs);
  check::equal(operation, "the number of parameters", call.parameters.size(), parameters);
  for (const Node* input : call.inputs) {
    check::equal(operation, "an input's lanes per value", input->lanes.group, call.inputs[0]->lanes.group);
  }
  call.lanes = call.inputs[0]->lanes;
}

inline void expect_features(std::string_view operation, const Node* input, std::size_t features) {
  check::equal(operation, "an input's number of features", input->features(), features);
}

inline void expect_shape(std::string_view operation, const Node* input, const Shape& shape) {
  if (input->shape != shape) check::fail(operation, "an input's shape", to_string(input->shape), to_string(shape));
}

inline void expect_parameter(std::string_view operation, const ParameterInfo* parameter, std::size_t rows,
                             std::size_t cols) {
  check::equal(operation, parameter->name + ".rows", parameter->rows, rows);
  check::equal(operation, parameter->name + ".cols", parameter->cols, cols);
}

/// The first `count` features of a block that starts at feature `begin`.
template <class T>
BasicBlock<T> rows(BasicBlock<T> block, std::size_t begin, std::size_t count) {
  return block.slice_features(begin, begin + count);
}

/// Floating-point operations of the product with a matrix of weights.
inline double product_flops(const ParameterInfo& info) { return 2.0 * static_cast<double>(info.size()); }

/// A dense layer's matrix as it is stored, and turned around.
inline kernels::Coefficients matrix(const float* weights, const ParameterInfo& info) {
  return {weights, info.rows, info.cols, info.cols, 1};
}
inline kernels::Coefficients transposed(const float* weights, const ParameterInfo& info) {
  return {weights, info.cols, info.rows, 1, info.cols};
}

/// What a gradient holds already, to be added to; nothing if it holds nothing yet.
inline ConstBlock present(Block gradient, bool accumulate) { return accumulate ? ConstBlock(gradient) : ConstBlock(); }

/// The gradient of parameter p, for an operation that can only add to it. Null if nobody wants it.
inline float* cleared_gradient(const ReverseCall& call, std::size_t p) {
  float* gradient = call.parameter_gradients[p];
  if (gradient != nullptr && !call.accumulate_parameters[p]) std::fill_n(gradient, call.shapes[p]->size(), 0.0F);
  return gradient;
}

inline void zero(Block block) { std::fill_n(block.data, block.features * block.stride, 0.0F); }

}  // namespace catena::nn::ops

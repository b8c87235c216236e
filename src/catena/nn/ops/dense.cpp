// Dense layers: y = W x + b.  ∂L/∂x = Wᵀ g,  ∂L/∂W = Σ_lanes g xᵀ,  ∂L/∂b = Σ_lanes g.

#include <algorithm>

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

void dense_shape(ShapeCall& call) {
  expect("dense", call, 1, call.parameters.size() == 1 ? 1 : 2);
  const ParameterInfo* weights = call.parameters[0];
  expect_parameter("dense", weights, weights->rows, call.inputs[0]->features());
  if (call.parameters.size() == 2) expect_parameter("dense", call.parameters[1], weights->rows, 1);
  call.shape = weights->rows;
  call.flops = product_flops(*weights);
}

void dense_forward(const ForwardCall& call) {
  const float* b = call.parameters.size() == 2 ? call.parameters[1] : nullptr;
  kernels::product(matrix(call.parameters[0], *call.shapes[0]), call.inputs[0], b, {}, call.output);
}

void dense_reverse(const ReverseCall& call) {
  const ConstBlock gy = call.output_gradient;
  if (call.input_gradients[0].data != nullptr) {
    kernels::product(transposed(call.parameters[0], *call.shapes[0]), gy, nullptr,
                     present(call.input_gradients[0], call.accumulate[0]), call.input_gradients[0]);
  }
  if (call.parameter_gradients[0] != nullptr) {
    kernels::outer_product(gy, call.inputs[0], call.parameter_gradients[0], call.accumulate_parameters[0]);
  }
  if (call.parameters.size() == 1) return;
  if (float* gb = cleared_gradient(call, 1)) kernels::add_row_sums(gy, gb);
}

void dense_tangent(const TangentCall& call) {
  kernels::product(matrix(call.parameters[0], *call.shapes[0]), call.input_tangents[0], nullptr, {},
                   call.output_tangent);
}

// y = (W ∘ M) x + b with a constant mask M of zeros and ones: autoregressive networks.

void masked_shape(ShapeCall& call) {
  expect("masked_dense", call, 1, 3);
  const ParameterInfo* weights = call.parameters[0];
  expect_parameter("masked_dense", weights, weights->rows, call.inputs[0]->features());
  expect_parameter("masked_dense", call.parameters[1], weights->rows, weights->cols);
  expect_parameter("masked_dense", call.parameters[2], weights->rows, 1);
  check::that(!call.parameters[1]->trainable, "masked_dense", "the mask", "trainable", "a constant");
  call.shape = weights->rows;
  call.flops = product_flops(*weights);
  call.scratch = weights->size();
}

const float* masked(std::span<const float* const> parameters, const ParameterInfo& info, float* scratch) {
  std::transform(parameters[0], parameters[0] + info.size(), parameters[1], scratch, std::multiplies<>());
  return scratch;
}

void masked_forward(const ForwardCall& call) {
  const ParameterInfo& info = *call.shapes[0];
  kernels::product(matrix(masked(call.parameters, info, call.scratch), info), call.inputs[0], call.parameters[2], {},
                   call.output);
}

void masked_reverse(const ReverseCall& call) {
  const ParameterInfo& info = *call.shapes[0];
  const ConstBlock gy = call.output_gradient;
  if (call.input_gradients[0].data != nullptr) {
    kernels::product(transposed(masked(call.parameters, info, call.scratch), info), gy, nullptr,
                     present(call.input_gradients[0], call.accumulate[0]), call.input_gradients[0]);
  }
  if (float* gw = cleared_gradient(call, 0)) {
    kernels::outer_product(gy, call.inputs[0], call.scratch, false);
    for (std::size_t k = 0; k < info.size(); ++k) gw[k] += call.scratch[k] * call.parameters[1][k];
  }
  if (float* gb = cleared_gradient(call, 2)) kernels::add_row_sums(gy, gb);
}

void masked_tangent(const TangentCall& call) {
  const ParameterInfo& info = *call.shapes[0];
  kernels::product(matrix(masked(call.parameters, info, call.scratch), info), call.input_tangents[0], nullptr, {},
                   call.output_tangent);
}

}  // namespace

Operation dense() { return {"dense", "y = W x + b", dense_shape, dense_forward, dense_reverse, dense_tangent}; }

Operation masked_dense() {
  return {"masked_dense", "y = (W ∘ M) x + b", masked_shape, masked_forward, masked_reverse, masked_tangent};
}

}  // namespace catena::nn::ops

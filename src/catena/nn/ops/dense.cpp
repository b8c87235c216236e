// y = W x + b, with the matrix product from OpenBLAS (serial: the parallelism is over blocks).

#include <cblas.h>

#include <algorithm>

#include "catena/nn/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

int as_int(std::size_t n) { return static_cast<int>(n); }

/// y = W x, or y += W x: W is rows × cols.
void product(const float* weights, std::size_t rows, std::size_t cols, ConstBlock x, Block y, bool accumulate) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, as_int(rows), as_int(padded_lanes(x.lanes)), as_int(cols), 1.0F,
              weights, as_int(cols), x.data, as_int(x.stride), accumulate ? 1.0F : 0.0F, y.data, as_int(y.stride));
}

/// gx (+)= Wᵀ gy
void transposed_product(const float* weights, std::size_t rows, std::size_t cols, ConstBlock gy, Block gx, bool accumulate) {
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, as_int(cols), as_int(padded_lanes(gy.lanes)), as_int(rows), 1.0F,
              weights, as_int(cols), gy.data, as_int(gy.stride), accumulate ? 1.0F : 0.0F, gx.data, as_int(gx.stride));
}

/// gW (+)= gy xᵀ, summed over exactly the lanes that count.
void outer_product(ConstBlock gy, ConstBlock x, float* gw, bool accumulate) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, as_int(gy.features), as_int(x.features), as_int(x.lanes), 1.0F,
              gy.data, as_int(gy.stride), x.data, as_int(x.stride), accumulate ? 1.0F : 0.0F, gw, as_int(x.features));
}

void dense_shape(ShapeCall& call) {
  expect("dense", call, 1, call.parameters.size() == 1 ? 1 : 2);
  const ParameterInfo* weights = call.parameters[0];
  expect_shape("dense", weights, weights->rows, call.inputs[0]->features);
  if (call.parameters.size() == 2) expect_shape("dense", call.parameters[1], weights->rows, 1);
  call.features = weights->rows;
}

void dense_forward(const ForwardCall& call) {
  const bool has_bias = call.parameters.size() == 2;
  if (has_bias) kernels::fill_rows(call.parameters[1], call.output);
  product(call.parameters[0], call.shapes[0]->rows, call.shapes[0]->cols, call.inputs[0], call.output, has_bias);
}

void dense_reverse(const ReverseCall& call) {
  const ConstBlock gy = call.output_gradient;
  if (call.input_gradients[0].data != nullptr) {
    transposed_product(call.parameters[0], call.shapes[0]->rows, call.shapes[0]->cols, gy, call.input_gradients[0],
                       call.accumulate[0]);
  }
  if (call.parameter_gradients[0] != nullptr) outer_product(gy, call.inputs[0], call.parameter_gradients[0], true);
  if (call.parameters.size() == 2 && call.parameter_gradients[1] != nullptr) {
    kernels::add_row_sums(gy, call.parameter_gradients[1]);
  }
}

void dense_tangent(const TangentCall& call) {
  product(call.parameters[0], call.shapes[0]->rows, call.shapes[0]->cols, call.input_tangents[0], call.output_tangent, false);
}

// y = (W ∘ M) x + b with a constant mask M of zeros and ones: autoregressive networks.

void masked_shape(ShapeCall& call) {
  expect("masked_dense", call, 1, 3);
  const ParameterInfo* weights = call.parameters[0];
  expect_shape("masked_dense", weights, weights->rows, call.inputs[0]->features);
  expect_shape("masked_dense", call.parameters[1], weights->rows, weights->cols);
  expect_shape("masked_dense", call.parameters[2], weights->rows, 1);
  check::that(!call.parameters[1]->trainable, "masked_dense", "the mask", "trainable", "a constant");
  call.features = weights->rows;
  call.scratch = weights->size();
}

const float* masked(std::span<const float* const> parameters, const ParameterInfo& info, float* scratch) {
  std::transform(parameters[0], parameters[0] + info.size(), parameters[1], scratch, std::multiplies<>());
  return scratch;
}

void masked_forward(const ForwardCall& call) {
  const ParameterInfo& info = *call.shapes[0];
  kernels::fill_rows(call.parameters[2], call.output);
  product(masked(call.parameters, info, call.scratch), info.rows, info.cols, call.inputs[0], call.output, true);
}

void masked_reverse(const ReverseCall& call) {
  const ParameterInfo& info = *call.shapes[0];
  const ConstBlock gy = call.output_gradient;
  if (call.input_gradients[0].data != nullptr) {
    transposed_product(masked(call.parameters, info, call.scratch), info.rows, info.cols, gy, call.input_gradients[0],
                       call.accumulate[0]);
  }
  if (float* gw = call.parameter_gradients[0]) {
    outer_product(gy, call.inputs[0], call.scratch, false);
    for (std::size_t k = 0; k < info.size(); ++k) gw[k] += call.scratch[k] * call.parameters[1][k];
  }
  if (call.parameter_gradients[2] != nullptr) kernels::add_row_sums(gy, call.parameter_gradients[2]);
}

void masked_tangent(const TangentCall& call) {
  const ParameterInfo& info = *call.shapes[0];
  product(masked(call.parameters, info, call.scratch), info.rows, info.cols, call.input_tangents[0], call.output_tangent,
          false);
}

}  // namespace

Operation dense() { return {"dense", "y = W x + b", dense_shape, dense_forward, dense_reverse, dense_tangent}; }

Operation masked_dense() {
  return {"masked_dense", "y = (W ∘ M) x + b", masked_shape, masked_forward, masked_reverse, masked_tangent};
}

}  // namespace catena::nn::ops

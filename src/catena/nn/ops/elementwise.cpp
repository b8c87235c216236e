// Sums, products and scalings, element by element.

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

// y = x + b, one b per feature

void bias_shape(ShapeCall& call) {
  expect("bias", call, 1, 1);
  expect_parameter("bias", call.parameters[0], call.inputs[0]->features(), 1);
  call.shape = call.inputs[0]->shape;
}
void bias_forward(const ForwardCall& call) { kernels::add_bias(call.inputs[0], call.parameters[0], call.output); }
void bias_reverse(const ReverseCall& call) {
  if (call.input_gradients[0].data != nullptr) {
    kernels::scale(1, call.output_gradient, call.input_gradients[0], call.accumulate[0]);
  }
  if (float* gb = cleared_gradient(call, 0)) kernels::add_row_sums(call.output_gradient, gb);
}
void bias_tangent(const TangentCall& call) { kernels::scale(1, call.input_tangents[0], call.output_tangent, false); }

// z = x + c y; c is the attribute `factor`

void add_shape(ShapeCall& call) {
  expect("add", call, 2, 0);
  expect_shape("add", call.inputs[1], call.inputs[0]->shape);
  call.resolved.set(static_cast<float>(call.attributes.at("factor")));
  call.shape = call.inputs[0]->shape;
}
float factor(const Operands& call) { return call.resolved.as<float>(); }

void add_forward(const ForwardCall& call) {
  kernels::add_scaled(call.inputs[0], factor(call), call.inputs[1], call.output);
}
void add_reverse(const ReverseCall& call) {
  const float factors[2] = {1, factor(call)};
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.input_gradients[i].data != nullptr) {
      kernels::scale(factors[i], call.output_gradient, call.input_gradients[i], call.accumulate[i]);
    }
  }
}
void add_tangent(const TangentCall& call) {
  const float factors[2] = {1, factor(call)};
  bool accumulate = false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.input_tangents[i].data == nullptr) continue;
    kernels::scale(factors[i], call.input_tangents[i], call.output_tangent, accumulate);
    accumulate = true;
  }
}

// z = x ∘ y

void multiply_shape(ShapeCall& call) {
  expect("multiply", call, 2, 0);
  expect_shape("multiply", call.inputs[1], call.inputs[0]->shape);
  call.shape = call.inputs[0]->shape;
}
void multiply_forward(const ForwardCall& call) {
  kernels::multiply(call.inputs[0], call.inputs[1], call.output, false);
}
void multiply_reverse(const ReverseCall& call) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.input_gradients[i].data != nullptr) {
      kernels::multiply(call.output_gradient, call.inputs[1 - i], call.input_gradients[i], call.accumulate[i]);
    }
  }
}
void multiply_tangent(const TangentCall& call) {
  bool accumulate = false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.input_tangents[i].data == nullptr) continue;
    kernels::multiply(call.input_tangents[i], call.inputs[1 - i], call.output_tangent, accumulate);
    accumulate = true;
  }
}

// y = c x; c is the attribute `factor`

void scale_shape(ShapeCall& call) {
  expect("scale", call, 1, 0);
  call.resolved.set(static_cast<float>(call.attributes.at("factor")));
  call.shape = call.inputs[0]->shape;
}
void scale_forward(const ForwardCall& call) { kernels::scale(factor(call), call.inputs[0], call.output, false); }
void scale_reverse(const ReverseCall& call) {
  kernels::scale(factor(call), call.output_gradient, call.input_gradients[0], call.accumulate[0]);
}
void scale_tangent(const TangentCall& call) {
  kernels::scale(factor(call), call.input_tangents[0], call.output_tangent, false);
}

// z = s x, where s is one number per lane

void scale_lanes_shape(ShapeCall& call) {
  expect("scale_lanes", call, 2, 0);
  expect_features("scale_lanes", call.inputs[0], 1);
  call.shape = call.inputs[1]->shape;
}
void scale_lanes_forward(const ForwardCall& call) {
  kernels::scale_lanes(call.inputs[0], call.inputs[1], call.output, false);
}
void scale_lanes_reverse(const ReverseCall& call) {
  if (call.input_gradients[0].data != nullptr) {
    kernels::dot_features(call.output_gradient, call.inputs[1], call.input_gradients[0], call.accumulate[0]);
  }
  if (call.input_gradients[1].data != nullptr) {
    kernels::scale_lanes(call.inputs[0], call.output_gradient, call.input_gradients[1], call.accumulate[1]);
  }
}
void scale_lanes_tangent(const TangentCall& call) {
  bool accumulate = false;
  if (call.input_tangents[0].data != nullptr) {
    kernels::scale_lanes(call.input_tangents[0], call.inputs[1], call.output_tangent, false);
    accumulate = true;
  }
  if (call.input_tangents[1].data != nullptr) {
    kernels::scale_lanes(call.inputs[0], call.input_tangents[1], call.output_tangent, accumulate);
  }
}

}  // namespace

Operation bias() { return {"bias", "y_f = x_f + b_f", bias_shape, bias_forward, bias_reverse, bias_tangent}; }
Operation add() { return {"add", "z = x + c y", add_shape, add_forward, add_reverse, add_tangent, {"factor"}}; }
Operation multiply() {
  return {"multiply", "z = x ∘ y", multiply_shape, multiply_forward, multiply_reverse, multiply_tangent};
}
Operation scale() { return {"scale", "y = c x", scale_shape, scale_forward, scale_reverse, scale_tangent, {"factor"}}; }
Operation scale_lanes() {
  return {"scale_lanes",       "z_fl = s_l x_fl",   scale_lanes_shape,
          scale_lanes_forward, scale_lanes_reverse, scale_lanes_tangent};
}

}  // namespace catena::nn::ops

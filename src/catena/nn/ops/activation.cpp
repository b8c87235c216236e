// y = f(x), or f(x + e) with a second input: the forward pass keeps the slope f', so that reverse and tangent are one
// multiplication for every f.

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

using kernels::Activation;

void activation_shape(ShapeCall& call) {
  expect("activation", call, call.inputs.size() == 2 ? 2 : 1, 0);
  for (const Node* input : call.inputs) expect_shape("activation", input, call.inputs[0]->shape);
  call.shape = call.inputs[0]->shape;
  call.saved_features = call.shape.size();
  if (call.inputs.size() == 2) call.leaves = {1, 0};
}

template <Activation f>
void activation_forward(const ForwardCall& call) {
  const ConstBlock e = call.inputs.size() == 2 ? call.inputs[1] : ConstBlock();
  kernels::activate(f, call.inputs[0], e, call.output, call.derivatives ? call.saved : Block());
}

void activation_reverse(const ReverseCall& call) {
  if (call.inputs.size() == 2 && call.saved_is_free) {  // ∂L/∂e = ∂L/∂x is left where f' stood
    const Block gx = call.input_gradients[0];
    if (gx.data == nullptr) return kernels::multiply(call.output_gradient, call.saved, call.saved, false);
    return kernels::multiply_both(call.output_gradient, call.saved, gx, call.accumulate[0]);
  }
  for (std::size_t i = call.inputs.size(); i-- > 0;) {  // the first comes last: it may take the output gradient's place
    if (call.input_gradients[i].data == nullptr) continue;
    kernels::multiply(call.output_gradient, call.saved, call.input_gradients[i], call.accumulate[i]);
  }
}

void activation_tangent(const TangentCall& call) {
  bool accumulate = false;
  for (const ConstBlock t : call.input_tangents) {
    if (t.data == nullptr) continue;
    kernels::multiply(t, call.saved, call.output_tangent, accumulate);
    accumulate = true;
  }
}

template <Activation f>
Operation entry(std::string_view name, std::string_view formula) {
  return {name,
          formula,
          activation_shape,
          activation_forward<f>,
          activation_reverse,
          activation_tangent,
          {},
          {.reverse_in_place = true}};
}

}  // namespace

Operation gelu() { return entry<Activation::gelu>("gelu", "y = x/2 (1 + tanh(√(2/π)(x + 0.044715 x³)))"); }
Operation silu() { return entry<Activation::silu>("silu", "y = x/(1 + e^−x)"); }
Operation tanh() { return entry<Activation::tanh>("tanh", "y = tanh x"); }
Operation sigmoid() { return entry<Activation::sigmoid>("sigmoid", "y = 1/(1 + e^−x)"); }
Operation softplus() { return entry<Activation::softplus>("softplus", "y = log(1 + e^x)"); }
Operation relu() { return entry<Activation::relu>("relu", "y = max(x, 0)"); }
Operation exp() { return entry<Activation::exp>("exp", "y = e^x"); }
Operation log() { return entry<Activation::log>("log", "y = log x"); }

}  // namespace catena::nn::ops

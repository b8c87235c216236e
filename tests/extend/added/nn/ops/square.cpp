// y = x², for the test that CONTRIBUTING's table is true.

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

void square_shape(ShapeCall& call) {
  expect("square", call, 1, 0);
  call.shape = call.inputs[0]->shape;
}
void square_forward(const ForwardCall& call) { kernels::multiply(call.inputs[0], call.inputs[0], call.output, false); }
void square_reverse(const ReverseCall& call) {
  const Block gx = call.input_gradients[0];
  if (gx.data == nullptr) return;
  for (std::size_t f = 0; f < gx.features; ++f) {
    for (std::size_t l = 0; l < gx.lanes; ++l) {
      gx(f, l) = (call.accumulate[0] ? gx(f, l) : 0.0F) + 2 * call.inputs[0](f, l) * call.output_gradient(f, l);
    }
  }
}

}  // namespace

// Without a tangent, which is optional.
Operation square() { return {"square", "y = x²", square_shape, square_forward, square_reverse, nullptr}; }

}  // namespace catena::nn::ops

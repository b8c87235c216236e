// Random Fourier features (Rahimi and Recht 2007; Tancik et al. 2020) of one number per lane.

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

// y = (cos 2πw₁x, …, cos 2πw_Kx, sin 2πw₁x, …, sin 2πw_Kx); the frequencies w are constants that live with the weights

void fourier_shape(ShapeCall& call) {
  expect("fourier", call, 1, 1);
  expect_features("fourier", call.inputs[0], 1);
  expect_parameter("fourier", call.parameters[0], call.parameters[0]->rows, 1);
  check::that(!call.parameters[0]->trainable, "fourier", "the frequencies", "trainable", "constants");
  call.shape = 2 * call.parameters[0]->rows;
  call.saved_features = call.shape.size();
}
void fourier_forward(const ForwardCall& call) {
  kernels::fourier(call.parameters[0], call.inputs[0], call.output, call.derivatives ? call.saved : Block());
}
void fourier_reverse(const ReverseCall& call) {
  if (call.input_gradients[0].data == nullptr) return;
  kernels::dot_features(call.output_gradient, call.saved, call.input_gradients[0], call.accumulate[0]);
}
void fourier_tangent(const TangentCall& call) {
  kernels::scale_lanes(call.input_tangents[0], call.saved, call.output_tangent, false);
}

}  // namespace

Operation fourier() {
  return {"fourier", "y = (cos 2πwx, sin 2πwx)", fourier_shape, fourier_forward, fourier_reverse, fourier_tangent};
}

}  // namespace catena::nn::ops

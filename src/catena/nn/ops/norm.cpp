// Compiled alone, not with its neighbours: every operation has its own shape, forward, reverse and tangent.
// Layer normalisation over the features of each lane: y = γ x̂ + β.

#include "catena/nn/ops/norm.h"

#include "catena/nn/kernels/norm_kernels.h"

namespace catena::nn::ops {

namespace {

void shape(ShapeCall& call) {
  expect("layer_norm", call, 1, 2);
  call.features = call.inputs[0]->features;
  for (std::size_t p = 0; p < 2; ++p) expect_shape("layer_norm", call.parameters[p], call.features, 1);
  call.saved_features = NormSaved<float>::features(call.features, false);
  call.scratch = kernels::norm_partial_floats(call.features);
}

void forward(const ForwardCall& call) {
  const NormSaved<float> saved(call.derivatives ? call.saved : Block(), call.output.features);
  kernels::normalise({call.inputs[0], call.parameters[0], call.parameters[1], norm_epsilon, call.output,
                      saved.normalised, saved.inverse_deviation});
}

void reverse(const ReverseCall& call) {
  const NormSaved<const float> saved(call.saved, call.output.features);
  const kernels::NormSums sums(call.scratch, call.output.features);
  kernels::normalise_reverse({call.output_gradient,
                              {},
                              saved.normalised,
                              saved.inverse_deviation,
                              call.parameters[0],
                              call.input_gradients[0],
                              {},
                              {},
                              call.accumulate[0],
                              false,
                              false,
                              sums});
  kernels::add_norm_sums(sums, nullptr, cleared_gradient(call, 0), cleared_gradient(call, 1));
}

void tangent(const TangentCall& call) {
  const NormSaved<const float> saved(call.saved, call.output.features);
  kernels::normalise_tangent({}, saved.normalised, saved.inverse_deviation, call.parameters[0], call.input_tangents[0],
                             {}, {}, call.output_tangent);
}

}  // namespace

Operation layer_norm() {
  return {"layer_norm", "y = γ (x − mean)/√(variance + ε) + β", shape, forward, reverse, tangent};
}

}  // namespace catena::nn::ops

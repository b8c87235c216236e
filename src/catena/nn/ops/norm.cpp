// Layer normalisation over the features of each lane, alone or as the end of a residual layer.

#include "catena/nn/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

constexpr float epsilon = 1e-6F;  // under the root, as in the paper's code: a constant vector must not divide by zero

// Kept from the forward pass: slope f' [features], x̂ [features], 1/√(variance + ε) [1].
template <class T>
struct Saved {
  BasicBlock<T> slope, normalised, inverse_deviation;
  explicit Saved(BasicBlock<T> saved) {
    const std::size_t features = (saved.features - 1) / 2;
    slope = rows(saved, 0, features);
    normalised = rows(saved, features, features);
    inverse_deviation = rows(saved, 2 * features, 1);
  }
};

void common_shape(std::string_view name, ShapeCall& call, std::size_t first_norm_parameter) {
  call.features = call.inputs[0]->features;
  for (const Node* input : call.inputs) expect_features(name, input, call.features);
  for (std::size_t p = 0; p < first_norm_parameter + 2; ++p) expect_shape(name, call.parameters[p], call.features, 1);
  call.saved_features = 2 * call.features + 1;
  call.scratch = 3 * call.features * 16;
}

void run_forward(const ForwardCall& call, kernels::Activation f, const float* b, ConstBlock e, ConstBlock h,
                 const float* gamma, const float* beta) {
  kernels::NormCall norm{f, call.inputs[0], b, e, h, gamma, beta, epsilon, call.output, {}, {}, {}};
  if (call.derivatives) {
    const Saved<float> saved(call.saved);
    norm.slope = saved.slope;
    norm.normalised = saved.normalised;
    norm.inverse_deviation = saved.inverse_deviation;
  }
  kernels::activate_add_normalise(norm);
}

// y = γ x̂ + β

void norm_shape(ShapeCall& call) {
  expect("layer_norm", call, 1, 2);
  common_shape("layer_norm", call, 0);
}
void norm_forward(const ForwardCall& call) {
  run_forward(call, kernels::Activation::identity, nullptr, {}, {}, call.parameters[0], call.parameters[1]);
}
void norm_reverse(const ReverseCall& call) {
  const Saved<const float> saved(call.saved);
  kernels::activate_add_normalise_reverse({call.output_gradient,
                                           saved.slope,
                                           saved.normalised,
                                           saved.inverse_deviation,
                                           call.parameters[0],
                                           call.input_gradients[0],
                                           {},
                                           {},
                                           call.accumulate[0],
                                           false,
                                           false,
                                           nullptr,
                                           call.parameter_gradients[0],
                                           call.parameter_gradients[1],
                                           call.scratch});
}
void norm_tangent(const TangentCall& call) {
  const Saved<const float> saved(call.saved);
  kernels::activate_add_normalise_tangent(saved.slope, saved.normalised, saved.inverse_deviation, call.parameters[0],
                                          call.input_tangents[0], {}, {}, call.output_tangent);
}

// y = γ x̂ + β with x̂ the normalised gelu(u + b + e) + h: inputs u, e, h; parameters b, γ, β. One pass over memory
// instead of four: this is where a residual network spends its time outside matrix products.

void residual_shape(ShapeCall& call) {
  expect("residual_norm", call, 3, 3);
  common_shape("residual_norm", call, 1);
}
void residual_forward(const ForwardCall& call) {
  run_forward(call, kernels::Activation::gelu, call.parameters[0], call.inputs[1], call.inputs[2], call.parameters[1],
              call.parameters[2]);
}
void residual_reverse(const ReverseCall& call) {
  const Saved<const float> saved(call.saved);
  kernels::activate_add_normalise_reverse({call.output_gradient, saved.slope, saved.normalised, saved.inverse_deviation,
                                           call.parameters[1], call.input_gradients[0], call.input_gradients[1],
                                           call.input_gradients[2], call.accumulate[0], call.accumulate[1],
                                           call.accumulate[2], call.parameter_gradients[0], call.parameter_gradients[1],
                                           call.parameter_gradients[2], call.scratch});
}
void residual_tangent(const TangentCall& call) {
  const Saved<const float> saved(call.saved);
  kernels::activate_add_normalise_tangent(saved.slope, saved.normalised, saved.inverse_deviation, call.parameters[1],
                                          call.input_tangents[0], call.input_tangents[1], call.input_tangents[2],
                                          call.output_tangent);
}

}  // namespace

Operation layer_norm() {
  return {"layer_norm", "y = γ (x − mean)/√(variance + ε) + β", norm_shape, norm_forward, norm_reverse, norm_tangent};
}
Operation residual_norm() {
  return {"residual_norm", "y = layer_norm(gelu(u + b + e) + h)", residual_shape, residual_forward, residual_reverse,
          residual_tangent};
}

}  // namespace catena::nn::ops

// Concatenation and slicing along the features.

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

// y = (x₁, x₂, …)

void concatenate_shape(ShapeCall& call) {
  check::at_least("concatenate", "the number of inputs", call.inputs.size(), std::size_t{1});
  expect("concatenate", call, call.inputs.size(), 0);
  std::size_t features = 0;
  for (const Node* input : call.inputs) features += input->features();
  call.shape = features;
}
void concatenate_forward(const ForwardCall& call) {
  std::size_t begin = 0;
  for (const ConstBlock input : call.inputs) {
    const Block out = rows(call.output, begin, input.features);
    if (input.data != out.data) kernels::scale(1, input, out, false);  // else it was computed in its place
    begin += input.features;
  }
}
void concatenate_reverse(const ReverseCall& call) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const std::size_t features = call.inputs[i].features;
    const ConstBlock g = rows(call.output_gradient, begin, features);
    const Block to = call.input_gradients[i];
    if (to.data != nullptr && to.data != g.data) kernels::scale(1, g, to, call.accumulate[i]);
    begin += features;
  }
}
void concatenate_tangent(const TangentCall& call) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const std::size_t features = call.inputs[i].features;
    const Block out = rows(call.output_tangent, begin, features);
    if (call.input_tangents[i].data != nullptr) {
      kernels::scale(1, call.input_tangents[i], out, false);
    } else {
      zero(out);
    }
    begin += features;
  }
}

// y = x_begin … x_(end−1); attributes: begin, end

void slice_shape(ShapeCall& call) {
  expect("slice", call, 1, 0);
  const double begin = call.attributes.at("begin");
  const double end = call.attributes.at("end");
  check::that(begin >= 0 && begin < end && end <= static_cast<double>(call.inputs[0]->features()), "slice",
              "[begin, end)", fmt::format("[{}, {})", begin, end),
              fmt::format("within [0, {})", call.inputs[0]->features()));
  call.shape = static_cast<std::size_t>(end - begin);
  call.resolved.set(static_cast<std::size_t>(begin));
}
std::size_t slice_begin(const Operands& call) { return call.resolved.as<std::size_t>(); }

void slice_forward(const ForwardCall& call) {
  kernels::scale(1, rows(call.inputs[0], slice_begin(call), call.output.features), call.output, false);
}
void slice_reverse(const ReverseCall& call) {
  const Block gradient = call.input_gradients[0];
  if (!call.accumulate[0]) zero(gradient);
  kernels::scale(1, call.output_gradient, rows(gradient, slice_begin(call), call.output.features), true);
}
void slice_tangent(const TangentCall& call) {
  kernels::scale(1, rows(call.input_tangents[0], slice_begin(call), call.output.features), call.output_tangent, false);
}

}  // namespace

Operation concatenate() {
  return {"concatenate",
          "y = (x₁, x₂, …)",
          concatenate_shape,
          concatenate_forward,
          concatenate_reverse,
          concatenate_tangent,
          {},
          {.joins_inputs = true}};
}
Operation slice() {
  return {"slice",         "y = (x_begin, …, x_(end−1))", slice_shape, slice_forward, slice_reverse, slice_tangent,
          {"begin", "end"}};
}

}  // namespace catena::nn::ops

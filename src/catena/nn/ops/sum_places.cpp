// y_c = Σ_p m_p x_pc over all places p, with m one number per lane and place (without a second input, 1): the sum over
// the windows of a series, or over those of each lane's own length.

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

void sum_places_shape(ShapeCall& call) {
  expect("sum_places", call, call.inputs.size() == 2 ? 2 : 1, 0);
  const Shape x = call.inputs[0]->shape;
  if (call.inputs.size() == 2) expect_shape("sum_places", call.inputs[1], {x.y, x.x, 1});
  call.resolved.set(x);
  call.shape = x.channels;
}

/// out (+)= Σ_p m_p x_p, m = 1 if null
void add_places(const Shape& shape, ConstBlock m, ConstBlock x, Block out, bool accumulate) {
  for (std::size_t p = 0; p < shape.places(); ++p) {
    const ConstBlock part = rows(x, p * shape.channels, shape.channels);
    if (m.data == nullptr) {
      kernels::scale(1, part, out, accumulate || p > 0);
    } else {
      kernels::scale_lanes(rows(m, p, 1), part, out, accumulate || p > 0);
    }
  }
}

ConstBlock mask_of(const nn::Operands& call) { return call.inputs.size() == 2 ? call.inputs[1] : ConstBlock(); }

void sum_places_forward(const ForwardCall& call) {
  add_places(call.resolved.as<Shape>(), mask_of(call), call.inputs[0], call.output, false);
}

void sum_places_reverse(const ReverseCall& call) {
  const auto& shape = call.resolved.as<Shape>();
  const ConstBlock m = mask_of(call), g = call.output_gradient;
  const Block gx = call.input_gradients[0], gm = m.data == nullptr ? Block() : call.input_gradients[1];
  for (std::size_t p = 0; p < shape.places(); ++p) {
    const std::size_t first = p * shape.channels;
    if (gm.data != nullptr) {
      kernels::dot_features(g, rows(call.inputs[0], first, shape.channels), rows(gm, p, 1), call.accumulate[1]);
    }
    if (gx.data == nullptr) continue;
    if (m.data == nullptr) {
      kernels::scale(1, g, rows(gx, first, shape.channels), call.accumulate[0]);
    } else {
      kernels::scale_lanes(rows(m, p, 1), g, rows(gx, first, shape.channels), call.accumulate[0]);
    }
  }
}

void sum_places_tangent(const TangentCall& call) {
  const auto& shape = call.resolved.as<Shape>();
  const ConstBlock tx = call.input_tangents[0];
  if (tx.data != nullptr) add_places(shape, mask_of(call), tx, call.output_tangent, false);
  if (call.inputs.size() == 2 && call.input_tangents[1].data != nullptr) {
    add_places(shape, call.input_tangents[1], call.inputs[0], call.output_tangent, tx.data != nullptr);
  }
}

}  // namespace

Operation sum_places() {
  return {"sum_places",       "y_c = Σ_p m_p x_pc", sum_places_shape,
          sum_places_forward, sum_places_reverse,   sum_places_tangent};
}

}  // namespace catena::nn::ops

// y_fl = x_f,(l+1), 0 in the last lane: where lanes are a series, each sees the one after it. What both of a pair of
// neighbours need, as the embedding of a state, is then computed once for each lane and not once for each pair.

#include <algorithm>

#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

void next_shape(ShapeCall& call) {
  expect("next_lane", call, 1, 0);
  check::equal("next_lane", "the input's lanes per value", call.inputs[0]->lanes.group, std::size_t{1});
  call.shape = call.inputs[0]->shape;
}

void take_next(ConstBlock x, Block y) {
  for (std::size_t f = 0; f < x.features; ++f) {
    std::copy(x.feature(f) + 1, x.feature(f) + x.lanes, y.feature(f));
    y(f, x.lanes - 1) = 0;
  }
}

void next_forward(const ForwardCall& call) { take_next(call.inputs[0], call.output); }
void next_reverse(const ReverseCall& call) {
  const ConstBlock g = call.output_gradient;
  const Block gx = call.input_gradients[0];
  for (std::size_t f = 0; f < gx.features; ++f) {
    const float* from = g.feature(f);
    float* to = gx.feature(f);
    if (!call.accumulate[0]) to[0] = 0;
    for (std::size_t l = 1; l < gx.lanes; ++l) to[l] = (call.accumulate[0] ? to[l] : 0.0F) + from[l - 1];
  }
}
void next_tangent(const TangentCall& call) { take_next(call.input_tangents[0], call.output_tangent); }

}  // namespace

Operation next_lane() {
  return {"next_lane", "y_fl = x_f,(l+1)", next_shape, next_forward, next_reverse, next_tangent};
}

}  // namespace catena::nn::ops

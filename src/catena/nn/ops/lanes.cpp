// Compiled alone, not with its neighbours: every operation has its own shape, forward, reverse and tangent.
// Operations across lanes: log-sum-exp over all of them, sums over groups of them, and the way back (repeat).

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

// y_f = log Σ_l e^(x_fl): one value for the block

void logsumexp_shape(ShapeCall& call) {
  expect("logsumexp_lanes", call, 1, 0);
  call.features = call.inputs[0]->features;
  call.lanes = Lanes::one();
}
void logsumexp_forward(const ForwardCall& call) { kernels::logsumexp_rows(call.inputs[0], call.output); }
void logsumexp_reverse(const ReverseCall& call) {
  kernels::softmax_scaled(call.inputs[0], call.output, call.output_gradient, call.input_gradients[0],
                          call.accumulate[0]);
}
void logsumexp_tangent(const TangentCall& call) {
  kernels::softmax_dot(call.inputs[0], call.output, call.input_tangents[0], call.output_tangent);
}

// y_fk = Σ_{l in group k} x_fl: consecutive groups of `attribute` lanes, the last of which may be shorter

void sum_shape(ShapeCall& call) {
  expect("sum_groups", call, 1, 0);
  check::equal("sum_groups", "the number of attributes", call.attributes.size(), std::size_t{1});
  check::at_least("sum_groups", "the group", call.attributes[0], 1.0);
  check::equal("sum_groups", "the input's lanes per value", call.inputs[0]->lanes.group, std::size_t{1});
  call.features = call.inputs[0]->features;
  call.lanes = Lanes::grouped(static_cast<std::size_t>(call.attributes[0]));
}

/// out_fk (+)= Σ_{l in group k} x_fl
void sum_to_groups(ConstBlock x, std::size_t group, Block out, bool accumulate) {
  for (std::size_t f = 0; f < x.features; ++f) {
    for (std::size_t k = 0; k < out.lanes; ++k) {
      float sum = accumulate ? out(f, k) : 0.0F;
      for (std::size_t l = k * group; l < std::min(x.lanes, (k + 1) * group); ++l) sum += x(f, l);
      out(f, k) = sum;
    }
  }
}

/// out_fl (+)= x_f,l/group
void repeat_groups(ConstBlock x, std::size_t group, Block out, bool accumulate) {
  for (std::size_t f = 0; f < x.features; ++f) {
    for (std::size_t k = 0; k < x.lanes; ++k) {
      const float value = x(f, k);
      for (std::size_t l = k * group; l < std::min(out.lanes, (k + 1) * group); ++l) {
        out(f, l) = accumulate ? out(f, l) + value : value;
      }
    }
  }
}

std::size_t group_size(const Attributes& attributes) { return static_cast<std::size_t>(attributes[0]); }

void sum_forward(const ForwardCall& call) {
  sum_to_groups(call.inputs[0], group_size(call.attributes), call.output, false);
}
void sum_reverse(const ReverseCall& call) {
  repeat_groups(call.output_gradient, group_size(call.attributes), call.input_gradients[0], call.accumulate[0]);
}
void sum_tangent(const TangentCall& call) {
  sum_to_groups(call.input_tangents[0], group_size(call.attributes), call.output_tangent, false);
}

// y_fl = x_fk for every lane l of group k; attribute: the group, or 0 for one value that all lanes share

void repeat_shape(ShapeCall& call) {
  expect("repeat", call, 1, 0);
  check::equal("repeat", "the number of attributes", call.attributes.size(), std::size_t{1});
  check::equal("repeat", "the group", group_size(call.attributes), call.inputs[0]->lanes.group);
  call.features = call.inputs[0]->features;
  call.lanes = Lanes::each();
}

/// A value for all lanes is one group as wide as the block.
std::size_t width(const Attributes& attributes, std::size_t lanes) {
  return group_size(attributes) == 0 ? lanes : group_size(attributes);
}
void repeat_forward(const ForwardCall& call) {
  repeat_groups(call.inputs[0], width(call.attributes, call.block_lanes), call.output, false);
}
void repeat_reverse(const ReverseCall& call) {
  sum_to_groups(call.output_gradient, width(call.attributes, call.block_lanes), call.input_gradients[0],
                call.accumulate[0]);
}
void repeat_tangent(const TangentCall& call) {
  repeat_groups(call.input_tangents[0], width(call.attributes, call.block_lanes), call.output_tangent, false);
}

}  // namespace

Operation logsumexp_lanes() {
  return {"logsumexp_lanes", "y_f = log Σ_l e^x_fl", logsumexp_shape,
          logsumexp_forward, logsumexp_reverse,      logsumexp_tangent};
}
Operation sum_groups() {
  return {"sum_groups", "y_fk = Σ_{l in group k} x_fl", sum_shape, sum_forward, sum_reverse, sum_tangent};
}
Operation repeat() {
  return {"repeat", "y_fl = x_fk, l in group k", repeat_shape, repeat_forward, repeat_reverse, repeat_tangent};
}

}  // namespace catena::nn::ops

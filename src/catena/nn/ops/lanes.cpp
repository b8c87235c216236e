// Operations across lanes: log-sum-exp over all of them, sums over groups of them, and the way back (repeat).

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

// y_f = log Σ_l e^(x_fl): one value for the block

void lanes_logsumexp_shape(ShapeCall& call) {
  expect("logsumexp_lanes", call, 1, 0);
  call.shape = call.inputs[0]->shape;
  call.lanes = Lanes::one();
}
void lanes_logsumexp_forward(const ForwardCall& call) { kernels::logsumexp_rows(call.inputs[0], call.output); }
void lanes_logsumexp_reverse(const ReverseCall& call) {
  kernels::softmax_scaled(call.inputs[0], call.output, call.output_gradient, call.input_gradients[0],
                          call.accumulate[0]);
}
void lanes_logsumexp_tangent(const TangentCall& call) {
  kernels::softmax_dot(call.inputs[0], call.output, call.input_tangents[0], call.output_tangent);
}

// y_fk = Σ_{l in group k} x_fl: consecutive groups of `group` lanes, the last of which may be shorter

void sum_groups_shape(ShapeCall& call) {
  expect("sum_groups", call, 1, 0);
  check::at_least("sum_groups", "group", call.attributes.at("group"), 1.0);
  call.resolved.set(call.attributes.size_at("group"));
  check::equal("sum_groups", "the input's lanes per value", call.inputs[0]->lanes.group, std::size_t{1});
  call.shape = call.inputs[0]->shape;
  call.lanes = Lanes::grouped(call.attributes.size_at("group"));
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

std::size_t group_size(const Operands& call) { return call.resolved.as<std::size_t>(); }

void sum_groups_forward(const ForwardCall& call) {
  sum_to_groups(call.inputs[0], group_size(call), call.output, false);
}
void sum_groups_reverse(const ReverseCall& call) {
  repeat_groups(call.output_gradient, group_size(call), call.input_gradients[0], call.accumulate[0]);
}
void sum_groups_tangent(const TangentCall& call) {
  sum_to_groups(call.input_tangents[0], group_size(call), call.output_tangent, false);
}

// y_fl = x_fk for every lane l of group k; attribute: the `group`, or 0 for one value that all lanes share

void repeat_shape(ShapeCall& call) {
  expect("repeat", call, 1, 0);
  check::equal("repeat", "group", call.attributes.size_at("group"), call.inputs[0]->lanes.group);
  call.resolved.set(call.attributes.size_at("group"));
  call.shape = call.inputs[0]->shape;
  call.lanes = Lanes::each();
}

/// A value for all lanes is one group as wide as the block.
std::size_t group_width(const Operands& call) { return group_size(call) == 0 ? call.block_lanes : group_size(call); }
void repeat_forward(const ForwardCall& call) { repeat_groups(call.inputs[0], group_width(call), call.output, false); }
void repeat_reverse(const ReverseCall& call) {
  sum_to_groups(call.output_gradient, group_width(call), call.input_gradients[0], call.accumulate[0]);
}
void repeat_tangent(const TangentCall& call) {
  repeat_groups(call.input_tangents[0], group_width(call), call.output_tangent, false);
}

}  // namespace

Operation logsumexp_lanes() {
  return {"logsumexp_lanes",       "y_f = log Σ_l e^x_fl",  lanes_logsumexp_shape,
          lanes_logsumexp_forward, lanes_logsumexp_reverse, lanes_logsumexp_tangent};
}
Operation sum_groups() {
  return {"sum_groups",       "y_fk = Σ_{l in group k} x_fl",
          sum_groups_shape,   sum_groups_forward,
          sum_groups_reverse, sum_groups_tangent,
          {"group"}};
}
Operation repeat() {
  return {"repeat", "y_fl = x_fk, l in group k", repeat_shape, repeat_forward, repeat_reverse, repeat_tangent,
          {"group"}};
}

}  // namespace catena::nn::ops

// Pairs of lanes: every sample of a block with others of the same block, for losses that contrast what belongs together
// with what does not; and lanes that belong together as features.
//
//   lane_pairs    y_sl = Σ_k u_k,(l+s) v_kl, lanes counted modulo their number L, s < `pairs`. Row 0 is lane_dot.
//                 A block with L ≤ s has no such pair; its y is −10⁴, the logarithm of nothing.
//   unfold_lanes  y_sg = x_0,(gS+s): the S = `group` lanes of group g become features
//
// All pairs are a matrix product, 16 lanes of v against all of u at a time: P_il = Σ_k v_ki u_kl, y_si = P_i,(i+s).

#include <algorithm>

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

constexpr std::size_t chunk = 16;
constexpr float impossible = -1e4F;

void pairs_shape(ShapeCall& call) {
  expect("lane_pairs", call, 2, 0);
  check::at_least("lane_pairs", "pairs", call.attributes.at("pairs"), 1.0);
  expect_features("lane_pairs", call.inputs[1], call.inputs[0]->features());
  check::equal("lane_pairs", "the input's lanes per value", call.inputs[0]->lanes.group, std::size_t{1});
  call.shape = call.attributes.size_at("pairs");
  call.scratch_features = chunk;                      // P, or its gradient
  call.scratch = chunk * call.inputs[0]->features();  // ∂L/∂v of a chunk, turned around
}

/// Columns [first, first + count) of a block as the rows of a matrix.
kernels::Coefficients lanes_as_rows(ConstBlock v, std::size_t first, std::size_t count) {
  return {v.data + first, count, v.features, 1, v.stride};
}

template <class T>
BasicBlock<T> lanes_of(BasicBlock<T> block, std::size_t first, std::size_t count) {
  return {block.data + first, block.features, count, block.stride};
}

/// Calls body(first, count) for the lanes that pairs with the lanes [begin, begin + chunk) need: one run of them or,
/// round the end, two. `begin` is a multiple of 16, so that runs start on vectors.
template <class Body>
void for_partners(std::size_t begin, std::size_t pairs, std::size_t lanes, const Body& body) {
  const std::size_t end = std::min(begin + chunk, lanes) + pairs - 1;
  if (end >= lanes + begin) return body(std::size_t{0}, lanes);
  body(begin, std::min(end, lanes) - begin);
  if (end > lanes) body(std::size_t{0}, end - lanes);
}

/// y (+)= all pairs of u and v
void add_pairs(ConstBlock u, ConstBlock v, Block p, bool accumulate, Block y) {
  const std::size_t lanes = u.lanes, pairs = std::min(y.features, lanes);
  for (std::size_t first = 0; first < lanes; first += chunk) {
    const std::size_t count = std::min(chunk, lanes - first);
    for_partners(first, pairs, lanes, [&](std::size_t from, std::size_t width) {
      kernels::product(lanes_as_rows(v, first, count), lanes_of(u, from, width), nullptr, {}, lanes_of(p, from, width));
    });
    for (std::size_t s = 0; s < pairs; ++s) {
      float* out = y.feature(s) + first;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t l = first + i + s;
        const float value = p(i, l < lanes ? l : l - lanes);
        out[i] = accumulate ? out[i] + value : value;
      }
    }
  }
}

void pairs_forward(const ForwardCall& call) {
  add_pairs(call.inputs[0], call.inputs[1], call.scratch_rows, false, call.output);
  for (std::size_t s = call.output.lanes; s < call.output.features; ++s) {
    std::fill_n(call.output.feature(s), padded_lanes(call.output.lanes), impossible);
  }
}

void pairs_reverse(const ReverseCall& call) {
  const ConstBlock u = call.inputs[0], v = call.inputs[1], g = call.output_gradient;
  const Block gu = call.input_gradients[0], gv = call.input_gradients[1], gp = call.scratch_rows;
  const std::size_t lanes = u.lanes, pairs = std::min(g.features, lanes), k = u.features;
  if (gu.data != nullptr && !call.accumulate[0]) zero(gu);
  for (std::size_t first = 0; first < lanes; first += chunk) {
    const std::size_t count = std::min(chunk, lanes - first);
    zero(gp);
    for (std::size_t s = 0; s < pairs; ++s) {
      const float* from = g.feature(s) + first;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t l = first + i + s;
        gp(i, l < lanes ? l : l - lanes) = from[i];
      }
    }
    if (gv.data != nullptr) std::fill_n(call.scratch, chunk * k, 0.0F);
    for_partners(first, pairs, lanes, [&](std::size_t from, std::size_t width) {
      if (gu.data != nullptr) {  // ∂L/∂u_kl += Σ_i v_ki ∂L/∂P_il
        const kernels::Coefficients part{v.data + first, k, count, v.stride, 1};
        const Block out = lanes_of(gu, from, width);
        kernels::product(part, lanes_of(ConstBlock(gp), from, width), nullptr, out, out);
      }
      if (gv.data != nullptr) {  // ∂L/∂v_ki += Σ_l ∂L/∂P_il u_kl
        kernels::outer_product(lanes_of(ConstBlock(gp), from, width), lanes_of(u, from, width), call.scratch, true);
      }
    });
    if (gv.data == nullptr) continue;
    for (std::size_t f = 0; f < k; ++f) {
      float* out = gv.feature(f) + first;
      for (std::size_t i = 0; i < count; ++i) {
        out[i] = (call.accumulate[1] ? out[i] : 0.0F) + call.scratch[i * k + f];
      }
    }
  }
}

void pairs_tangent(const TangentCall& call) {
  const ConstBlock tu = call.input_tangents[0], tv = call.input_tangents[1];
  zero(call.output_tangent);
  if (tu.data != nullptr) add_pairs(tu, call.inputs[1], call.scratch_rows, true, call.output_tangent);
  if (tv.data != nullptr) add_pairs(call.inputs[0], tv, call.scratch_rows, true, call.output_tangent);
}

void unfold_shape(ShapeCall& call) {
  expect("unfold_lanes", call, 1, 0);
  check::at_least("unfold_lanes", "group", call.attributes.at("group"), 2.0);
  check::equal("unfold_lanes", "the input's lanes per value", call.inputs[0]->lanes.group, std::size_t{1});
  expect_features("unfold_lanes", call.inputs[0], 1);
  call.shape = call.attributes.size_at("group");
  call.lanes = Lanes::grouped(call.shape.size());
}

/// Calls body(feature, group, lane) for every lane; a last group that is not whole has fewer.
template <class Body>
void for_unfolded(std::size_t group, std::size_t lanes, const Body& body) {
  for (std::size_t l = 0; l < lanes; ++l) body(l % group, l / group, l);
}

void unfold(ConstBlock x, Block y) {
  zero(y);
  for_unfolded(y.features, x.lanes, [&](std::size_t f, std::size_t g, std::size_t l) { y(f, g) = x(0, l); });
}

void unfold_forward(const ForwardCall& call) { unfold(call.inputs[0], call.output); }
void unfold_reverse(const ReverseCall& call) {
  const Block gx = call.input_gradients[0];
  for_unfolded(call.output.features, gx.lanes, [&](std::size_t f, std::size_t g, std::size_t l) {
    gx(0, l) = (call.accumulate[0] ? gx(0, l) : 0.0F) + call.output_gradient(f, g);
  });
}
void unfold_tangent(const TangentCall& call) { unfold(call.input_tangents[0], call.output_tangent); }

}  // namespace

Operation lane_pairs() {
  return {"lane_pairs", "y_sl = Σ_k u_k,(l+s) v_kl", pairs_shape, pairs_forward, pairs_reverse, pairs_tangent,
          {"pairs"}};
}
Operation unfold_lanes() {
  return {"unfold_lanes", "y_sg = x_0,(gS+s)", unfold_shape, unfold_forward, unfold_reverse, unfold_tangent, {"group"}};
}

}  // namespace catena::nn::ops

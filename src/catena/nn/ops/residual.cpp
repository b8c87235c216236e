// A residual layer: y = γ x̂ + β with x̂ = (r − mean)/√(variance + ε), r = gelu(u) + h, u = W h + b + e. Inputs h, e;
// parameters W, b, γ, β. One operation, because a residual network spends its time here: u is worked on while it is in
// the first cache, a few lanes at a time, and is not kept.
//
//   ∂L/∂r as in layer_norm;  ∂L/∂u = f'(u) ∂L/∂r = ∂L/∂e;  ∂L/∂h = ∂L/∂r + Wᵀ ∂L/∂u;  ∂L/∂W = Σ_lanes ∂L/∂u hᵀ

#include <algorithm>

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/kernels/norm_kernels.h"
#include "catena/nn/ops/norm.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

constexpr std::size_t piece_lanes = 64;

/// Scratch memory for one piece of a block: rows side by side, so that it stays in the first cache.
std::size_t piece_floats(std::size_t features) { return features * piece_lanes; }
Block piece(float* memory, std::size_t features, std::size_t lanes) { return {memory, features, lanes, piece_lanes}; }

/// Calls body(first lane, lanes) for pieces of the block.
template <class Body>
void for_pieces(std::size_t lanes, Body body) {
  for (std::size_t first = 0; first < lanes; first += piece_lanes) body(first, std::min(piece_lanes, lanes - first));
}

template <class T>
BasicBlock<T> part(const BasicBlock<T>& block, std::size_t first, std::size_t lanes) {
  return {block.data == nullptr ? nullptr : block.data + first, block.features, lanes, block.stride};
}

void residual_shape(ShapeCall& call) {
  expect("residual_layer", call, 2, 4);
  call.shape = call.inputs[0]->shape;
  expect_shape("residual_layer", call.inputs[1], call.shape);
  const std::size_t features = call.shape.size();
  expect_parameter("residual_layer", call.parameters[0], features, features);
  for (std::size_t p = 1; p < 4; ++p) expect_parameter("residual_layer", call.parameters[p], features, 1);
  call.saved_features = NormSaved<float>::features(features, true);
  call.scratch = piece_floats(features) + kernels::norm_partial_floats(features);
  call.scratch_features = features;
  call.leaves = {1, NormSaved<float>::slope_row(features)};
  call.flops = product_flops(*call.parameters[0]);
}

void residual_forward(const ForwardCall& call) {
  const kernels::Coefficients w = matrix(call.parameters[0], *call.shapes[0]);
  const NormSaved<float> saved(call.derivatives ? call.saved : Block(), call.output.features);
  for_pieces(call.output.lanes, [&](std::size_t first, std::size_t lanes) {
    // u and then r stand where x̂ will, whose memory is thus fetched while the product is busy.
    const Block u =
        call.derivatives ? part(saved.normalised, first, lanes) : piece(call.scratch, call.output.features, lanes);
    const ConstBlock h = part(call.inputs[0], first, lanes);
    kernels::product(w, h, nullptr, part(call.inputs[1], first, lanes), u);
    const Block y = part(call.output, first, lanes);
    kernels::gelu_add(u, call.parameters[1], h, u, part(saved.slope, first, lanes), y);
    kernels::normalise({u, call.parameters[2], call.parameters[3], norm_epsilon, y,
                        part(saved.normalised, first, lanes), part(saved.inverse_deviation, first, lanes)});
  });
}

void residual_reverse(const ReverseCall& call) {
  const std::size_t features = call.output.features;
  const kernels::Coefficients wt = transposed(call.parameters[0], *call.shapes[0]);
  const NormSaved<float> saved(call.saved, features);
  // ∂L/∂u takes the place of f'(u) once that is used up: a store to other memory would have to wait for it. There it
  // is left as ∂L/∂e, too.
  const Block gus = call.saved_is_free ? saved.slope : call.scratch_rows;
  const kernels::NormSums sums(call.scratch + piece_floats(features), features);
  for_pieces(call.output.lanes, [&](std::size_t first, std::size_t lanes) {
    const Block gu = part(gus, first, lanes);
    const Block gh = part(call.input_gradients[0], first, lanes);
    const Block ge = call.saved_is_free ? Block() : part(call.input_gradients[1], first, lanes);
    kernels::normalise_reverse({part(call.output_gradient, first, lanes), part(saved.slope, first, lanes),
                                part(saved.normalised, first, lanes), part(saved.inverse_deviation, first, lanes),
                                call.parameters[2], gu, ge, gh, false, call.accumulate[1], call.accumulate[0], sums});
    if (gh.data != nullptr) kernels::product(wt, gu, nullptr, gh, gh);
  });
  if (call.parameter_gradients[0] != nullptr) {
    kernels::outer_product(gus, call.inputs[0], call.parameter_gradients[0], call.accumulate_parameters[0]);
  }
  kernels::add_norm_sums(sums, cleared_gradient(call, 1), cleared_gradient(call, 2), cleared_gradient(call, 3));
}

void residual_tangent(const TangentCall& call) {
  const NormSaved<const float> saved(call.saved, call.output.features);
  const ConstBlock h = call.input_tangents[0];
  ConstBlock u;
  if (h.data != nullptr) {
    kernels::product(matrix(call.parameters[0], *call.shapes[0]), h, nullptr, {}, call.output_tangent);
    u = call.output_tangent;
  }
  kernels::normalise_tangent(saved.slope, saved.normalised, saved.inverse_deviation, call.parameters[2], u,
                             call.input_tangents[1], h, call.output_tangent);
}

}  // namespace

// In place: a lane's ∂L/∂h depends on no other lane's ∂L/∂y.
Operation residual_layer() {
  return {"residual_layer",
          "y = layer_norm(gelu(W h + b + e) + h)",
          residual_shape,
          residual_forward,
          residual_reverse,
          residual_tangent,
          {},
          {.reverse_in_place = true}};
}

}  // namespace catena::nn::ops

// Group normalisation (Wu and He 2018; docs/refs.bib: wu2018): y = γ_c x̂ + β_c, where x̂ has mean 0 and variance 1 over
// all places and the channels of a group, in each lane. Beside convolutions: it needs no other sample of the batch.

#include "catena/nn/kernels/group_norm_kernels.h"

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/norm.h"

namespace catena::nn::ops {

namespace {

using kernels::ChannelGroups;

void group_norm_shape(ShapeCall& call) {
  expect("group_norm", call, 1, 2);
  call.shape = call.inputs[0]->shape;
  for (std::size_t p = 0; p < 2; ++p) expect_parameter("group_norm", call.parameters[p], call.shape.channels, 1);
  const double groups = call.attributes.at("groups");
  check::at_least("group_norm", "groups", groups, 1.0);
  check::that(call.shape.channels % call.attributes.size_at("groups") == 0, "group_norm", "groups", groups,
              fmt::format("a divisor of the {} channels", call.shape.channels));
  const ChannelGroups shape{call.shape.places(), call.shape.channels, call.attributes.size_at("groups")};
  call.resolved.set(shape);
  call.saved_features = call.shape.size() + shape.groups;  // x̂, 1/√(variance + ε)
}

void group_norm_forward(const ForwardCall& call) {
  const auto& shape = call.resolved.as<ChannelGroups>();
  const std::size_t features = call.output.features;
  kernels::normalise_groups({shape, call.inputs[0], call.parameters[0], call.parameters[1], norm_epsilon, call.output,
                             call.derivatives ? rows(call.saved, 0, features) : Block(),
                             call.derivatives ? rows(call.saved, features, shape.groups) : Block()});
}

void group_norm_reverse(const ReverseCall& call) {
  const auto& shape = call.resolved.as<ChannelGroups>();
  const ConstBlock saved = call.saved, g = call.output_gradient;
  const ConstBlock normalised = rows(saved, 0, g.features), inverse = rows(saved, g.features, shape.groups);
  float *gamma = cleared_gradient(call, 0), *beta = cleared_gradient(call, 1);
  for (std::size_t p = 0; p < shape.places; ++p) {
    const std::size_t first = p * shape.channels;
    const ConstBlock at = rows(g, first, shape.channels);
    if (gamma != nullptr) kernels::add_row_dots(at, rows(normalised, first, shape.channels), gamma);
    if (beta != nullptr) kernels::add_row_sums(at, beta);
  }
  if (call.input_gradients[0].data == nullptr) return;
  kernels::differentiate_groups(
      {shape, g, normalised, inverse, call.parameters[0], nullptr, call.input_gradients[0], call.accumulate[0]});
}

void group_norm_tangent(const TangentCall& call) {
  const auto& shape = call.resolved.as<ChannelGroups>();
  const std::size_t features = call.output.features;
  kernels::differentiate_groups({shape, call.input_tangents[0], rows(call.saved, 0, features),
                                 rows(call.saved, features, shape.groups), nullptr, call.parameters[0],
                                 call.output_tangent, false});
}

}  // namespace

Operation group_norm() {
  return {"group_norm",       "y = γ_c (x − mean)/√(variance + ε) + β_c",
          group_norm_shape,   group_norm_forward,
          group_norm_reverse, group_norm_tangent,
          {"groups"}};
}

}  // namespace catena::nn::ops

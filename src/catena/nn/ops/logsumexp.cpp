// y = log Σ_f e^(x_f) in each lane: mixtures. The largest x_f is taken out first, so that nothing overflows. Kept for
// the derivatives: the shares e^(x_f − y), whose sum over f is one.

#include <algorithm>

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

using kernels::Activation;

void features_logsumexp_shape(ShapeCall& call) {
  expect("logsumexp_features", call, 1, 0);
  call.shape = 1;
  call.saved_features = call.inputs[0]->features();
}

void features_logsumexp_forward(const ForwardCall& call) {
  const ConstBlock x = call.inputs[0];
  const std::size_t lanes = padded_lanes(x.lanes);
  float* y = call.output.data;
  constexpr std::size_t vector = 16;  // lanes are padded to a multiple of it
  for (std::size_t begin = 0; begin < lanes; begin += vector) {
    float largest[vector];
    std::copy_n(x.data + begin, vector, largest);
    for (std::size_t f = 1; f < x.features; ++f) {
      const float* row = x.feature(f) + begin;
      for (std::size_t l = 0; l < vector; ++l) largest[l] = std::max(largest[l], row[l]);
    }
    alignas(64) float sum[vector] = {}, share[vector];
    const auto as_block = [](float* values) { return Block(values, 1, vector, vector); };
    for (std::size_t f = 0; f < x.features; ++f) {
      const float* row = x.feature(f) + begin;
      for (std::size_t l = 0; l < vector; ++l) share[l] = row[l] - largest[l];
      kernels::activate(Activation::exp, as_block(share), {}, as_block(share), {});
      for (std::size_t l = 0; l < vector; ++l) sum[l] += share[l];
      if (call.derivatives) std::copy_n(share, vector, call.saved.feature(f) + begin);
    }
    if (call.derivatives) {
      for (std::size_t f = 0; f < x.features; ++f) {
        float* row = call.saved.feature(f) + begin;
        for (std::size_t l = 0; l < vector; ++l) row[l] /= sum[l];
      }
    }
    kernels::activate(Activation::log, as_block(sum), {}, as_block(sum), {});
    for (std::size_t l = 0; l < vector; ++l) y[begin + l] = largest[l] + sum[l];
  }
}

void features_logsumexp_reverse(const ReverseCall& call) {
  kernels::scale_lanes(call.output_gradient, call.saved, call.input_gradients[0], call.accumulate[0]);
}

void features_logsumexp_tangent(const TangentCall& call) {
  kernels::dot_features(call.saved, call.input_tangents[0], call.output_tangent, false);
}

}  // namespace

Operation logsumexp_features() {
  return {"logsumexp_features",       "y = log Σ_f e^x_f",        features_logsumexp_shape,
          features_logsumexp_forward, features_logsumexp_reverse, features_logsumexp_tangent};
}

}  // namespace catena::nn::ops

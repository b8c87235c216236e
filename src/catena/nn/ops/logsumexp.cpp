// Compiled alone, not with its neighbours: every operation has its own shape, forward, reverse and tangent.
// y = log Σ_f e^(x_f) in each lane: mixtures. The largest x_f is taken out first, so that nothing overflows. Kept for
// the derivatives: the shares e^(x_f − y), whose sum over f is one.

#include <algorithm>

#include "catena/nn/kernels/kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

using kernels::Activation;

void shape(ShapeCall& call) {
  expect("logsumexp_features", call, 1, 0);
  call.features = 1;
  call.saved_features = call.inputs[0]->features;
}

void forward(const ForwardCall& call) {
  const ConstBlock x = call.inputs[0];
  const std::size_t lanes = padded_lanes(x.lanes);
  float* y = call.output.data;
  constexpr std::size_t chunk = 16;  // lanes are padded to a multiple of it
  for (std::size_t begin = 0; begin < lanes; begin += chunk) {
    float largest[chunk];
    std::copy_n(x.data + begin, chunk, largest);
    for (std::size_t f = 1; f < x.features; ++f) {
      const float* row = x.feature(f) + begin;
      for (std::size_t l = 0; l < chunk; ++l) largest[l] = std::max(largest[l], row[l]);
    }
    alignas(64) float sum[chunk] = {}, share[chunk];
    const auto as_block = [](float* values) { return Block(values, 1, chunk, chunk); };
    for (std::size_t f = 0; f < x.features; ++f) {
      const float* row = x.feature(f) + begin;
      for (std::size_t l = 0; l < chunk; ++l) share[l] = row[l] - largest[l];
      kernels::activate(Activation::exp, as_block(share), {}, as_block(share), {});
      for (std::size_t l = 0; l < chunk; ++l) sum[l] += share[l];
      if (call.derivatives) std::copy_n(share, chunk, call.saved.feature(f) + begin);
    }
    if (call.derivatives) {
      for (std::size_t f = 0; f < x.features; ++f) {
        float* row = call.saved.feature(f) + begin;
        for (std::size_t l = 0; l < chunk; ++l) row[l] /= sum[l];
      }
    }
    kernels::activate(Activation::log, as_block(sum), {}, as_block(sum), {});
    for (std::size_t l = 0; l < chunk; ++l) y[begin + l] = largest[l] + sum[l];
  }
}

void reverse(const ReverseCall& call) {
  kernels::scale_lanes(call.output_gradient, call.saved, call.input_gradients[0], call.accumulate[0]);
}

void tangent(const TangentCall& call) {
  kernels::dot_features(call.saved, call.input_tangents[0], call.output_tangent, false);
}

}  // namespace

Operation logsumexp_features() { return {"logsumexp_features", "y = log Σ_f e^x_f", shape, forward, reverse, tangent}; }

}  // namespace catena::nn::ops

// Monotone splines, coordinate by coordinate: inputs are n·(3K − 1) raw parameters (coordinate by coordinate) and v;
// outputs f(v) and then log f'(v). Attributes: `bins`, K, and `bound`, B. The forward pass keeps the partial
// derivatives of both outputs, so that reverse and tangent are sums of products.

#include "catena/nn/kernels/rational_quadratic.h"

#include "catena/nn/kernels/spline_kernels.h"
#include "catena/nn/ops/ops.h"

namespace catena::nn::ops {

namespace {

using kernels::Spline;

void spline_shape(ShapeCall& call) {
  expect("rational_quadratic", call, 2, 0);
  check::at_least("rational_quadratic", "bins", call.attributes.at("bins"), 2.0);
  check::positive("rational_quadratic", "bound", call.attributes.at("bound"));
  const Spline spline{call.attributes.size_at("bins"), call.attributes.at("bound")};
  call.resolved.set(spline);
  const std::size_t n = call.inputs[1]->features(), each = spline.parameters();
  expect_features("rational_quadratic", call.inputs[0], n * each);
  call.shape = 2 * n;
  call.scratch = spline.scratch();
  call.saved_features = 2 * n * (each + 1);  // for each coordinate: ∂f, then ∂log f', each by parameters and v
}

void spline_forward(const ForwardCall& call) {
  kernels::spline_forward(call.resolved.as<Spline>(), call.inputs[0], call.inputs[1], call.output,
                          call.derivatives ? call.saved : Block(), call.scratch);
}

void spline_reverse(const ReverseCall& call) {
  const std::size_t each = call.resolved.as<Spline>().parameters(), n = call.inputs[1].features;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t p = 0; p <= each; ++p) {
      const std::size_t input = p < each ? 0 : 1;
      const Block gradient = call.input_gradients[input];
      if (gradient.data == nullptr) continue;
      kernels::spline_reverse(call.output_gradient.feature(i), call.saved.feature(2 * i * (each + 1) + p),
                              call.output_gradient.feature(n + i), call.saved.feature((2 * i + 1) * (each + 1) + p),
                              call.output.lanes, call.accumulate[input], gradient.feature(p < each ? i * each + p : i));
    }
  }
}

void spline_tangent(const TangentCall& call) {
  const std::size_t each = call.resolved.as<Spline>().parameters(), n = call.inputs[1].features;
  zero(call.output_tangent);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t p = 0; p <= each; ++p) {
      const ConstBlock change = call.input_tangents[p < each ? 0 : 1];
      if (change.data == nullptr) continue;
      const float* t = change.feature(p < each ? i * each + p : i);
      for (std::size_t o = 0; o < 2; ++o) {
        const float* by = call.saved.feature((2 * i + o) * (each + 1) + p);
        float* out = call.output_tangent.feature(o * n + i);
        for (std::size_t l = 0; l < call.output.lanes; ++l) out[l] += by[l] * t[l];
      }
    }
  }
}

}  // namespace

Operation rational_quadratic() {
  return {"rational_quadratic", "y = (f(v), log f'(v)), f a monotone spline",
          spline_shape,         spline_forward,
          spline_reverse,       spline_tangent,
          {"bins", "bound"}};
}

}  // namespace catena::nn::ops

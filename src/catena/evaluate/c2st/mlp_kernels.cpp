#include "catena/evaluate/c2st/mlp_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/evaluate/c2st/mlp_kernels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace catena::evaluate::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;  // a block's stride is a multiple of 16 floats
using V = hn::Vec<D>;

// Rows of a register tile. Layers are 10·d wide, so that five leave no rest; 5 × 2 sums, 2 inputs and a weight fit the
// 16 registers of AVX2 and are enough independent sums to hide the latency of the multiply-add.
constexpr std::size_t tile_rows = 5;
constexpr std::size_t gradient_cols = HWY_MAX_BYTES >= 64 ? 4 : 2;  // AVX-512 has 32 registers

/// sum[r, l] = start[r] + Σₖ a[r·row_step + k·inner_step] in[k, l] for `rows` rows and `vectors` vectors of lanes from
/// `lane`; each finished vector goes to finish(r, lane, sum).
template <std::size_t rows, std::size_t vectors, class Start, class Finish>
HWY_INLINE void tile(const float* a, std::size_t row_step, std::size_t inner_step, std::size_t inner, const float* in,
                     std::size_t in_stride, std::size_t lane, const Start& start, const Finish& finish) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  V sum[rows][vectors];
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t v = 0; v < vectors; ++v) sum[r][v] = hn::Set(d, start(r));
  }
  for (std::size_t k = 0; k < inner; ++k) {
    V x[vectors];
    for (std::size_t v = 0; v < vectors; ++v) x[v] = hn::Load(d, in + k * in_stride + lane + v * n);
    for (std::size_t r = 0; r < rows; ++r) {
      const V factor = hn::Set(d, a[r * row_step + k * inner_step]);
      for (std::size_t v = 0; v < vectors; ++v) sum[r][v] = hn::MulAdd(factor, x[v], sum[r][v]);
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t v = 0; v < vectors; ++v) finish(r, lane + v * n, sum[r][v]);
  }
}

/// The whole product, tile by tile; start and finish get the number of the row in the product.
template <class Start, class Finish>
HWY_INLINE void product(const float* a, std::size_t row_step, std::size_t inner_step, std::size_t rows, ConstBlock in,
                        const Start& start, const Finish& finish) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  const auto strip = [&]<std::size_t count>(std::size_t first) HWY_ATTR {
    const auto start_row = [&](std::size_t r) HWY_ATTR { return start(first + r); };
    const auto finish_row = [&](std::size_t r, std::size_t l, V sum) HWY_ATTR { finish(first + r, l, sum); };
    const float* from = a + first * row_step;
    std::size_t lane = 0;
    for (; lane + 2 * n <= in.stride; lane += 2 * n) {
      tile<count, 2>(from, row_step, inner_step, in.features, in.data, in.stride, lane, start_row, finish_row);
    }
    for (; lane < in.stride; lane += n) {
      tile<count, 1>(from, row_step, inner_step, in.features, in.data, in.stride, lane, start_row, finish_row);
    }
  };
  std::size_t row = 0;
  for (; row + tile_rows <= rows; row += tile_rows) strip.template operator()<tile_rows>(row);
  for (; row < rows; ++row) strip.template operator()<1>(row);
}

void Dense(const float* weights, const float* bias, ConstBlock in, bool rectify, Block out) {
  const D d;
  const V floor = rectify ? hn::Zero(d) : hn::Set(d, hwy::LowestValue<float>());
  product(
      weights, in.features, 1, out.features, in, [&](std::size_t o) HWY_ATTR { return bias[o]; },
      [&](std::size_t o, std::size_t l, V sum) HWY_ATTR { hn::Store(hn::Max(sum, floor), d, out.feature(o) + l); });
}

void DenseBack(const float* weights, ConstBlock delta, ConstBlock hidden, Block out) {
  const D d;
  product(
      weights, 1, hidden.features, hidden.features, delta, [](std::size_t) { return 0.0F; },
      [&](std::size_t i, std::size_t l, V sum) HWY_ATTR {
        const auto active = hn::Gt(hn::Load(d, hidden.feature(i) + l), hn::Zero(d));
        hn::Store(hn::IfThenElseZero(active, sum), d, out.feature(i) + l);
      });
}

/// Products of `rows` deltas with `cols` inputs, summed over the lanes.
template <std::size_t rows, std::size_t cols>
HWY_INLINE void gradient_tile(ConstBlock delta, ConstBlock in, std::size_t o, std::size_t i, float* out) {
  const D d;
  V sum[rows][cols];
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) sum[r][c] = hn::Zero(d);
  }
  for (std::size_t l = 0; l < delta.stride; l += hn::Lanes(d)) {
    V x[cols];
    for (std::size_t c = 0; c < cols; ++c) x[c] = hn::Load(d, in.feature(i + c) + l);
    for (std::size_t r = 0; r < rows; ++r) {
      const V y = hn::Load(d, delta.feature(o + r) + l);
      for (std::size_t c = 0; c < cols; ++c) sum[r][c] = hn::MulAdd(x[c], y, sum[r][c]);
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) {
      out[(o + r) * in.features + i + c] = hn::GetLane(hn::SumOfLanes(d, sum[r][c]));
    }
  }
}

template <std::size_t rows>
HWY_INLINE void gradient_rows(ConstBlock delta, ConstBlock in, std::size_t o, float* out) {
  std::size_t i = 0;
  for (; i + gradient_cols <= in.features; i += gradient_cols) {
    gradient_tile<rows, gradient_cols>(delta, in, o, i, out);
  }
  for (; i < in.features; ++i) gradient_tile<rows, 1>(delta, in, o, i, out);
}

void DenseGradient(ConstBlock delta, ConstBlock in, float* weight_gradient, float* bias_gradient) {
  const D d;
  std::size_t o = 0;
  for (; o + tile_rows <= delta.features; o += tile_rows) gradient_rows<tile_rows>(delta, in, o, weight_gradient);
  for (; o < delta.features; ++o) gradient_rows<1>(delta, in, o, weight_gradient);
  for (o = 0; o < delta.features; ++o) {
    V sum = hn::Zero(d);
    for (std::size_t l = 0; l < delta.stride; l += hn::Lanes(d)) sum = hn::Add(sum, hn::Load(d, delta.feature(o) + l));
    bias_gradient[o] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

void Adam(const AdamStep& step, std::span<const float> gradient, std::span<float> mean, std::span<float> square,
          std::span<float> parameters) {
  const auto range = [&](auto d, std::size_t begin, std::size_t end) HWY_ATTR {
    const auto set = [&](float x) HWY_ATTR { return hn::Set(d, x); };
    for (std::size_t i = begin; i < end; i += hn::Lanes(d)) {
      const auto w = hn::LoadU(d, &parameters[i]);
      const auto g = hn::MulAdd(hn::LoadU(d, &gradient[i]), set(step.scale), hn::Mul(w, set(step.decay)));
      const auto m = hn::MulAdd(set(step.beta1), hn::LoadU(d, &mean[i]), hn::Mul(set(1 - step.beta1), g));
      const auto v = hn::MulAdd(set(step.beta2), hn::LoadU(d, &square[i]), hn::Mul(set(1 - step.beta2), hn::Mul(g, g)));
      hn::StoreU(m, d, &mean[i]);
      hn::StoreU(v, d, &square[i]);
      const auto change = hn::Div(hn::Mul(set(step.rate), m), hn::Add(hn::Sqrt(v), set(step.epsilon)));
      hn::StoreU(hn::Sub(w, change), d, &parameters[i]);
    }
  };
  const D d;
  const std::size_t whole = parameters.size() / hn::Lanes(d) * hn::Lanes(d);
  range(d, 0, whole);
  range(hn::CappedTag<float, 1>(), whole, parameters.size());
}

}  // namespace catena::evaluate::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::evaluate::kernels {

HWY_EXPORT(Dense);
HWY_EXPORT(DenseBack);
HWY_EXPORT(DenseGradient);
HWY_EXPORT(Adam);

void dense(const float* weights, const float* bias, ConstBlock in, bool rectify, Block out) {
  HWY_DYNAMIC_DISPATCH(Dense)(weights, bias, in, rectify, out);
}
void dense_back(const float* weights, ConstBlock delta, ConstBlock hidden, Block out) {
  HWY_DYNAMIC_DISPATCH(DenseBack)(weights, delta, hidden, out);
}
void dense_gradient(ConstBlock delta, ConstBlock in, float* weight_gradient, float* bias_gradient) {
  HWY_DYNAMIC_DISPATCH(DenseGradient)(delta, in, weight_gradient, bias_gradient);
}
void adam(const AdamStep& step, std::span<const float> gradient, std::span<float> mean, std::span<float> square,
          std::span<float> parameters) {
  HWY_DYNAMIC_DISPATCH(Adam)(step, gradient, mean, square, parameters);
}

}  // namespace catena::evaluate::kernels
#endif

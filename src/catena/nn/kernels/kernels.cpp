#include "catena/nn/kernels/kernels.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/nn/kernels/kernels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

#include "catena/core/simd_turn-inl.h"
#include "catena/nn/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

using kernels::Activation;

/// Calls body(f, l) at the start of every vector of every row.
template <class Body>
HWY_INLINE void for_vectors(std::size_t features, std::size_t lanes, Body body) {
  const std::size_t end = padded_lanes(lanes);
  const std::size_t n = hn::Lanes(D());
  for (std::size_t f = 0; f < features; ++f) {
    for (std::size_t l = 0; l < end; l += n) body(f, l);
  }
}

HWY_INLINE V load(ConstBlock x, std::size_t f, std::size_t l) { return hn::Load(D(), x.data + f * x.stride + l); }
HWY_INLINE void store(V v, Block x, std::size_t f, std::size_t l) { hn::Store(v, D(), x.data + f * x.stride + l); }
HWY_INLINE void store_or_add(V v, Block x, std::size_t f, std::size_t l, bool add) {
  store(add ? hn::Add(load(x, f, l), v) : v, x, f, l);
}

/// Calls body(functor) with the functor of an activation, so that the choice is made once per block.
template <class Body>
HWY_INLINE void with_activation(Activation f, Body body) {
  switch (f) {
    case Activation::identity:
      return body(Identity());
    case Activation::gelu:
      return body(Gelu());
    case Activation::silu:
      return body(Silu());
    case Activation::tanh:
      return body(Tanh());
    case Activation::sigmoid:
      return body(Sigmoid());
    case Activation::softplus:
      return body(Softplus());
    case Activation::relu:
      return body(Relu());
    case Activation::exp:
      return body(Exp());
    case Activation::log:
      return body(Log());
  }
}

void Activate(Activation kind, ConstBlock x, ConstBlock e, Block y, Block slope) {
  with_activation(kind, [&](auto f) {
    const auto argument = [&](std::size_t i, std::size_t l) {
      const V v = load(x, i, l);
      return e.data == nullptr ? v : hn::Add(v, load(e, i, l));
    };
    if (slope.data == nullptr) {
      for_vectors(x.features, x.lanes,
                  [&](std::size_t i, std::size_t l) { store(f(argument(i, l), nullptr), y, i, l); });
      return;
    }
    for_vectors(x.features, x.lanes, [&](std::size_t i, std::size_t l) {
      V d;
      store(f(argument(i, l), &d), y, i, l);
      store(d, slope, i, l);
    });
  });
}

void Multiply(ConstBlock x, ConstBlock y, Block out, bool accumulate) {
  for_vectors(x.features, x.lanes, [&](std::size_t f, std::size_t l) {
    const V product = hn::Mul(load(x, f, l), load(y, f, l));
    store_or_add(product, out, f, l, accumulate);
  });
}

void MultiplyBoth(ConstBlock x, Block y, Block out, bool accumulate) {
  for_vectors(x.features, x.lanes, [&](std::size_t f, std::size_t l) {
    const V product = hn::Mul(load(x, f, l), load(y, f, l));
    store(product, y, f, l);
    store_or_add(product, out, f, l, accumulate);
  });
}

void Scale(float alpha, ConstBlock x, Block out, bool accumulate) {
  const bool repeated = x.lanes == 1 && out.lanes > 1;
  for_vectors(out.features, out.lanes, [&](std::size_t f, std::size_t l) {
    const V value = repeated ? splat(x.data[f * x.stride]) : load(x, f, l);
    store_or_add(hn::Mul(splat(alpha), value), out, f, l, accumulate);
  });
}

void AddScaled(ConstBlock x, float alpha, ConstBlock y, Block out) {
  for_vectors(x.features, x.lanes, [&](std::size_t f, std::size_t l) {
    store(hn::MulAdd(splat(alpha), load(y, f, l), load(x, f, l)), out, f, l);
  });
}

/// K vectors from lane l of feature f.
template <int K>
HWY_INLINE void add_vectors(std::span<const ConstBlock> x, const Block& out, bool accumulate, std::size_t f,
                            std::size_t l) {
  const std::size_t n = hn::Lanes(D());
  V sums[K];
  for (std::size_t k = 0; k < K; ++k) sums[k] = load(x[0], f, l + k * n);
  for (const ConstBlock& block : x.subspan(1)) {
    const float* row = block.data + f * block.stride + l;
    for (std::size_t k = 0; k < K; ++k) sums[k] = hn::Add(sums[k], hn::Load(D(), row + k * n));
  }
  for (std::size_t k = 0; k < K; ++k) store_or_add(sums[k], out, f, l + k * n, accumulate);
}

void AddBlocks(std::span<const ConstBlock> x, const Block& out, bool accumulate) {
  const std::size_t n = hn::Lanes(D());
  const std::size_t end = padded_lanes(out.lanes);
  for (std::size_t f = 0; f < out.features; ++f) {
    std::size_t l = 0;
    for (; l + 4 * n <= end; l += 4 * n) add_vectors<4>(x, out, accumulate, f, l);
    for (; l < end; l += n) add_vectors<1>(x, out, accumulate, f, l);
  }
}

void FillRows(const float* values, Block out) {
  for_vectors(out.features, out.lanes, [&](std::size_t f, std::size_t l) { store(splat(values[f]), out, f, l); });
}

void AddBias(ConstBlock x, const float* bias, Block out) {
  for_vectors(x.features, x.lanes,
              [&](std::size_t f, std::size_t l) { store(hn::Add(load(x, f, l), splat(bias[f])), out, f, l); });
}

/// Σ_l product(l) over exactly the lanes that count.
template <class Product>
HWY_INLINE float sum_lanes(std::size_t lanes, Product product) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  V even = hn::Zero(d);
  V odd = hn::Zero(d);
  std::size_t l = 0;
  for (; l + 2 * n <= lanes; l += 2 * n) {
    even = hn::Add(even, product(l));
    odd = hn::Add(odd, product(l + n));
  }
  for (; l < lanes; l += n) even = hn::Add(even, hn::IfThenElseZero(hn::FirstN(d, lanes - l), product(l)));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

void AddRowSums(ConstBlock x, float* sums) {
  for (std::size_t f = 0; f < x.features; ++f) {
    sums[f] += sum_lanes(x.lanes, [&](std::size_t l) { return load(x, f, l); });
  }
}

void AddRowDots(ConstBlock x, ConstBlock y, float* sums) {
  for (std::size_t f = 0; f < x.features; ++f) {
    sums[f] += sum_lanes(x.lanes, [&](std::size_t l) { return hn::Mul(load(x, f, l), load(y, f, l)); });
  }
}

void DotFeatures(ConstBlock x, ConstBlock y, Block out, bool accumulate) {
  const std::size_t n = hn::Lanes(D());
  for (std::size_t l = 0; l < padded_lanes(x.lanes); l += n) {
    V sum = hn::Zero(D());
    for (std::size_t f = 0; f < x.features; ++f) sum = hn::MulAdd(load(x, f, l), load(y, f, l), sum);
    store_or_add(sum, out, 0, l, accumulate);
  }
}

void ScaleLanes(ConstBlock s, ConstBlock x, Block out, bool accumulate) {
  for_vectors(x.features, x.lanes, [&](std::size_t f, std::size_t l) {
    store_or_add(hn::Mul(load(s, 0, l), load(x, f, l)), out, f, l, accumulate);
  });
}

void Fourier(const float* frequencies, ConstBlock x, Block y, Block slope) {
  const std::size_t count = y.features / 2;
  const std::size_t n = hn::Lanes(D());
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t l = 0; l < padded_lanes(x.lanes); l += n) {
      const V turns = hn::Mul(load(x, 0, l), splat(frequencies[k]));
      V cosine, sine;
      catena::simd::HWY_NAMESPACE::cos_sin_turn(D(), hn::Sub(turns, hn::Floor(turns)), cosine, sine);
      store(cosine, y, k, l);
      store(sine, y, count + k, l);
      if (slope.data == nullptr) continue;
      const V factor = splat(6.283185307179586F * frequencies[k]);
      store(hn::Neg(hn::Mul(factor, sine)), slope, k, l);
      store(hn::Mul(factor, cosine), slope, count + k, l);
    }
  }
}

void LogSumExpRows(ConstBlock x, Block out) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t f = 0; f < x.features; ++f) {
    V largest = splat(x.data[f * x.stride]);
    for (std::size_t l = 0; l < x.lanes; l += n) {
      largest = hn::Max(largest, hn::IfThenElse(hn::FirstN(d, x.lanes - l), load(x, f, l), largest));
    }
    const V top = hn::MaxOfLanes(d, largest);
    const float sum = sum_lanes(x.lanes, [&](std::size_t l) { return hn::Exp(d, hn::Sub(load(x, f, l), top)); });
    out.data[f * out.stride] = hn::GetLane(hn::Add(top, hn::Log(d, splat(sum))));
  }
}

void SoftmaxScaled(ConstBlock x, ConstBlock y, ConstBlock g, Block out, bool accumulate) {
  for_vectors(x.features, x.lanes, [&](std::size_t f, std::size_t l) {
    const V share = hn::Exp(D(), hn::Sub(load(x, f, l), splat(y.data[f * y.stride])));
    store_or_add(hn::Mul(splat(g.data[f * g.stride]), share), out, f, l, accumulate);
  });
}

void SoftmaxDot(ConstBlock x, ConstBlock y, ConstBlock t, Block out) {
  for (std::size_t f = 0; f < x.features; ++f) {
    out.data[f * out.stride] = sum_lanes(x.lanes, [&](std::size_t l) {
      return hn::Mul(hn::Exp(D(), hn::Sub(load(x, f, l), splat(y.data[f * y.stride]))), load(t, f, l));
    });
  }
}

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace catena::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::nn {
HWY_EXPORT(Activate);
HWY_EXPORT(Multiply);
HWY_EXPORT(MultiplyBoth);
HWY_EXPORT(Scale);
HWY_EXPORT(AddScaled);
HWY_EXPORT(AddBlocks);
HWY_EXPORT(FillRows);
HWY_EXPORT(AddBias);
HWY_EXPORT(AddRowSums);
HWY_EXPORT(AddRowDots);
HWY_EXPORT(DotFeatures);
HWY_EXPORT(ScaleLanes);
HWY_EXPORT(Fourier);
HWY_EXPORT(LogSumExpRows);
HWY_EXPORT(SoftmaxScaled);
HWY_EXPORT(SoftmaxDot);
HWY_EXPORT(TargetName);

namespace kernels {

void activate(Activation f, ConstBlock x, ConstBlock e, Block y, Block slope) {
  HWY_DYNAMIC_DISPATCH(Activate)(f, x, e, y, slope);
}
void multiply(ConstBlock x, ConstBlock y, Block out, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(Multiply)(x, y, out, accumulate);
}
void multiply_both(ConstBlock x, Block y, Block out, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(MultiplyBoth)(x, y, out, accumulate);
}
void scale(float alpha, ConstBlock x, Block out, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(Scale)(alpha, x, out, accumulate);
}
void add_scaled(ConstBlock x, float alpha, ConstBlock y, Block out) {
  HWY_DYNAMIC_DISPATCH(AddScaled)(x, alpha, y, out);
}
void add_blocks(std::span<const ConstBlock> x, const Block& out, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(AddBlocks)(x, out, accumulate);
}
void fill_rows(const float* values, Block out) { HWY_DYNAMIC_DISPATCH(FillRows)(values, out); }
void add_bias(ConstBlock x, const float* bias, Block out) { HWY_DYNAMIC_DISPATCH(AddBias)(x, bias, out); }
void add_row_sums(ConstBlock x, float* sums) { HWY_DYNAMIC_DISPATCH(AddRowSums)(x, sums); }
void add_row_dots(ConstBlock x, ConstBlock y, float* sums) { HWY_DYNAMIC_DISPATCH(AddRowDots)(x, y, sums); }
void dot_features(ConstBlock x, ConstBlock y, Block out, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(DotFeatures)(x, y, out, accumulate);
}
void scale_lanes(ConstBlock s, ConstBlock x, Block out, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(ScaleLanes)(s, x, out, accumulate);
}
void fourier(const float* frequencies, ConstBlock x, Block y, Block slope) {
  HWY_DYNAMIC_DISPATCH(Fourier)(frequencies, x, y, slope);
}
void logsumexp_rows(ConstBlock x, Block out) { HWY_DYNAMIC_DISPATCH(LogSumExpRows)(x, out); }
void softmax_scaled(ConstBlock x, ConstBlock y, ConstBlock g, Block out, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(SoftmaxScaled)(x, y, g, out, accumulate);
}
void softmax_dot(ConstBlock x, ConstBlock y, ConstBlock t, Block out) {
  HWY_DYNAMIC_DISPATCH(SoftmaxDot)(x, y, t, out);
}
const char* target_name() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

}  // namespace kernels
}  // namespace catena::nn
#endif

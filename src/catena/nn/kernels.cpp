#include "catena/nn/kernels.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/nn/kernels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

#include "catena/core/simd_turn-inl.h"
#include "catena/nn/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

using kernels::Activation;
using kernels::NormCall;
using kernels::NormReverseCall;
using kernels::NormSums;

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
  for (std::size_t f = 0; f < x.features; ++f)
    sums[f] += sum_lanes(x.lanes, [&](std::size_t l) { return load(x, f, l); });
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

/// Calls body(integral constant of the number of vectors, first lane) for chunks of four vectors (two where there are
/// 16 registers) and what is left: enough independent work to hide latency, whose sums fit into the registers.
template <class Body>
HWY_INLINE void for_chunks(std::size_t lanes, Body body) {
  constexpr std::size_t most = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
  const std::size_t n = hn::Lanes(D());
  const std::size_t end = padded_lanes(lanes);
  for (std::size_t l = 0; l < end; l += most * n) {
    const std::size_t vectors = std::min(most, (end - l) / n);
    if (vectors == 1) body(std::integral_constant<int, 1>(), l);
    if (vectors == 2) body(std::integral_constant<int, 2>(), l);
    if (vectors == 3) body(std::integral_constant<int, 3>(), l);
    if (vectors == 4) body(std::integral_constant<int, 4>(), l);
  }
}

/// A row of a block and how far it is to the next. The chunks below hold these in local variables, because the compiler
/// must assume that a store of a vector changes what a reference points to.
template <class T>
struct Row {
  T* at;
  std::size_t stride;
  Row(BasicBlock<T> block, std::size_t lane) : at(block.data + lane), stride(block.stride) {}
  HWY_INLINE void next() { at += stride; }
};

/// K vectors of lanes, all features.
template <int K, bool keep, bool has_h, class F>
HWY_NOINLINE void normalise_chunk(const NormCall& call, std::size_t first, F f) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  const std::size_t features = call.u.features;
  const V share = splat(1.0F / static_cast<float>(features));
  const float none = 0;
  const float* b = call.b == nullptr ? &none : call.b;
  const std::size_t b_step = call.b == nullptr ? 0 : 1;
  Row<const float> u(call.u, first), h(call.h, has_h ? first : 0);
  Row<float> y(call.y, first), slopes(call.slope, keep ? first : 0), normalised(call.normalised, keep ? first : 0);

  // Sums of r and r² around the lane's own first r, which lies within the spread of the others: no cancellation. The
  // first feature is apart, so that the sums of the others stay in registers.
  V r[K], origin[K], sum[K], squares[K];
  const auto next_r = [&]() HWY_ATTR {
    const V bias = splat(*b);
    b += b_step;
    for (int k = 0; k < K; ++k) {
      const std::size_t l = static_cast<std::size_t>(k) * n;
      V slope;
      r[k] = f(hn::Add(hn::Load(d, u.at + l), bias), keep ? &slope : nullptr);
      if constexpr (has_h) r[k] = hn::Add(r[k], hn::Load(d, h.at + l));
      if constexpr (keep) hn::Store(slope, d, slopes.at + l);
      hn::Store(r[k], d, y.at + l);
    }
    u.next(), y.next();
    if constexpr (has_h) h.next();
    if constexpr (keep) slopes.next();
  };
  next_r();
  for (int k = 0; k < K; ++k) {
    origin[k] = r[k];
    sum[k] = squares[k] = hn::Zero(d);
  }
  for (std::size_t i = 1; i < features; ++i) {
    next_r();
    for (int k = 0; k < K; ++k) {
      const V deviation = hn::Sub(r[k], origin[k]);
      sum[k] = hn::Add(sum[k], deviation);
      squares[k] = hn::MulAdd(deviation, deviation, squares[k]);
    }
  }

  V inverse[K], shift[K];  // x̂ = r·inverse − shift
  for (int k = 0; k < K; ++k) {
    const V mean = hn::Mul(sum[k], share);
    const V variance = hn::NegMulAdd(mean, mean, hn::Mul(squares[k], share));
    inverse[k] = hn::Div(splat(1), hn::Sqrt(hn::Add(hn::Max(variance, hn::Zero(d)), splat(call.epsilon))));
    shift[k] = hn::Mul(hn::Add(origin[k], mean), inverse[k]);
    if constexpr (keep) hn::Store(inverse[k], d, call.inverse_deviation.data + first + static_cast<std::size_t>(k) * n);
  }

  y = Row<float>(call.y, first);
  const float* gammas = call.gamma;
  const float* betas = call.beta;
  for (std::size_t i = 0; i < features; ++i) {
    const V gamma = splat(gammas[i]);
    const V beta = splat(betas[i]);
    for (int k = 0; k < K; ++k) {
      const std::size_t l = static_cast<std::size_t>(k) * n;
      const V x = hn::MulSub(hn::Load(d, y.at + l), inverse[k], shift[k]);
      if constexpr (keep) hn::Store(x, d, normalised.at + l);
      hn::Store(hn::MulAdd(gamma, x, beta), d, y.at + l);
    }
    y.next();
    if constexpr (keep) normalised.next();
  }
}

void ActivateAddNormalise(const NormCall& call) {
  const auto run = [&](auto f) {
    const bool keep = call.slope.data != nullptr;
    const bool h = call.h.data != nullptr;
    for_chunks(call.u.lanes, [&](auto width, std::size_t first) {
      constexpr int K = decltype(width)::value;
      if (keep && h) return normalise_chunk<K, true, true>(call, first, f);
      if (keep) return normalise_chunk<K, true, false>(call, first, f);
      if (h) return normalise_chunk<K, false, true>(call, first, f);
      return normalise_chunk<K, false, false>(call, first, f);
    });
  };
  if (call.gelu) return run(Gelu());
  return run(Identity());
}

/// K vectors of lanes, all features. `full`: all of these lanes count.
/// With x̂ = (r − mean) v and v = 1/√(variance + ε), q = γ g:  ∂L/∂r = v (q − mean(q) − x̂ mean(q x̂)).
template <int K, bool full>
HWY_NOINLINE void normalise_reverse_chunk(const NormReverseCall& call, std::size_t first) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  const std::size_t features = call.g.features;
  const std::size_t lanes = call.g.lanes;
  const V share = splat(1.0F / static_cast<float>(features));
  const float* gammas = call.gamma;
  float* gamma_sums = call.sums.gamma;
  float* beta_sums = call.sums.beta;
  float* b_sums = call.sums.b;
  const auto add_to = [](float* where, V v) { hn::Store(hn::Add(hn::Load(D(), where), v), D(), where); };
  hn::Mask<D> counts[K];
  V q_sum[K], qx_sum[K];
  for (int k = 0; k < K; ++k) {
    const std::size_t l = first + static_cast<std::size_t>(k) * n;
    if constexpr (!full) counts[k] = hn::FirstN(d, l < lanes ? lanes - l : 0);
    q_sum[k] = qx_sum[k] = hn::Zero(d);
  }
  const auto counted = [&](V v, int k) { return full ? v : hn::IfThenElseZero(counts[k], v); };

  Row<const float> g(call.g, first), normalised(call.normalised, first), slopes(call.slope, first);
  for (std::size_t i = 0; i < features; ++i) {
    const V gamma = splat(gammas[i]);
    V gamma_sum = hn::Zero(d);
    V beta_sum = hn::Zero(d);
    for (int k = 0; k < K; ++k) {
      const std::size_t l = static_cast<std::size_t>(k) * n;
      const V gk = hn::Load(d, g.at + l);
      const V gx = hn::Mul(gk, hn::Load(d, normalised.at + l));
      q_sum[k] = hn::MulAdd(gamma, gk, q_sum[k]);
      qx_sum[k] = hn::MulAdd(gamma, gx, qx_sum[k]);
      gamma_sum = hn::Add(gamma_sum, counted(gx, k));
      beta_sum = hn::Add(beta_sum, counted(gk, k));
    }
    add_to(gamma_sums + i * 16, gamma_sum);
    add_to(beta_sums + i * 16, beta_sum);
    g.next(), normalised.next();
  }

  // ∂L/∂r = γ (v g) − v mean(q) − x̂ v mean(q x̂)
  V inverse[K];
  for (int k = 0; k < K; ++k) {
    inverse[k] = hn::Load(d, call.inverse_deviation.data + first + static_cast<std::size_t>(k) * n);
    q_sum[k] = hn::Mul(hn::Mul(q_sum[k], share), inverse[k]);
    qx_sum[k] = hn::Mul(hn::Mul(qx_sum[k], share), inverse[k]);
  }
  g = Row<const float>(call.g, first);
  normalised = Row<const float>(call.normalised, first);
  Row<float> gu(call.u, first), ge(call.e, first), gh(call.h, first);
  const bool has_u = call.u.data != nullptr, has_e = call.e.data != nullptr, has_h = call.h.data != nullptr;
  const bool add_u = call.add_u, add_e = call.add_e, add_h = call.add_h;
  const auto put = [](V v, float* where, bool add) {
    hn::Store(add ? hn::Add(hn::Load(D(), where), v) : v, D(), where);
  };
  for (std::size_t i = 0; i < features; ++i) {
    const V gamma = splat(gammas[i]);
    V r[K], x[K];
    V b_sum = hn::Zero(d);
    for (int k = 0; k < K; ++k) {
      const std::size_t l = static_cast<std::size_t>(k) * n;
      const V centred = hn::MulSub(gamma, hn::Mul(hn::Load(d, g.at + l), inverse[k]), q_sum[k]);
      r[k] = hn::NegMulAdd(hn::Load(d, normalised.at + l), qx_sum[k], centred);
      x[k] = hn::Mul(r[k], hn::Load(d, slopes.at + l));
      b_sum = hn::Add(b_sum, counted(x[k], k));
    }
    add_to(b_sums + i * 16, b_sum);
    if (has_h) {
      for (int k = 0; k < K; ++k) put(r[k], gh.at + static_cast<std::size_t>(k) * n, add_h);
    }
    if (has_e) {
      for (int k = 0; k < K; ++k) put(x[k], ge.at + static_cast<std::size_t>(k) * n, add_e);
    }
    if (has_u) {
      for (int k = 0; k < K; ++k) put(x[k], gu.at + static_cast<std::size_t>(k) * n, add_u);
    }
    g.next(), normalised.next(), slopes.next(), gu.next(), ge.next(), gh.next();
  }
}

void ActivateAddNormaliseReverse(const NormReverseCall& call) {
  const std::size_t n = hn::Lanes(D());
  for_chunks(call.g.lanes, [&](auto width, std::size_t first) {
    constexpr int K = decltype(width)::value;
    if (first + K * n <= call.g.lanes) return normalise_reverse_chunk<K, true>(call, first);
    return normalise_reverse_chunk<K, false>(call, first);
  });
}

void AddNormSums(const NormSums& sums, float* b, float* gamma, float* beta) {
  const D d;
  const auto collect = [&](const float* partial, float* to) {
    if (to == nullptr) return;
    for (std::size_t i = 0; i < sums.features; ++i)
      to[i] += hn::GetLane(hn::SumOfLanes(d, hn::Load(d, partial + i * 16)));
  };
  collect(sums.b, b);
  collect(sums.gamma, gamma);
  collect(sums.beta, beta);
}

void ActivateAddNormaliseTangent(ConstBlock slope, ConstBlock normalised, ConstBlock inverse_deviation,
                                 const float* gamma, ConstBlock u, ConstBlock e, ConstBlock h, Block y) {
  // ṙ = f'·(u̇ + ė) + ḣ;  ẏ = γ v (ṙ − mean(ṙ) − x̂ mean(ṙ x̂))
  const std::size_t n = hn::Lanes(D());
  const float share = 1.0F / static_cast<float>(y.features);
  for (std::size_t l = 0; l < padded_lanes(y.lanes); l += n) {
    V sum = hn::Zero(D());
    V product = hn::Zero(D());
    for (std::size_t i = 0; i < y.features; ++i) {
      V x = hn::Zero(D());
      if (u.data != nullptr) x = hn::Add(x, load(u, i, l));
      if (e.data != nullptr) x = hn::Add(x, load(e, i, l));
      V r = hn::Mul(x, load(slope, i, l));
      if (h.data != nullptr) r = hn::Add(r, load(h, i, l));
      store(r, y, i, l);
      sum = hn::Add(sum, r);
      product = hn::MulAdd(r, load(normalised, i, l), product);
    }
    sum = hn::Mul(sum, splat(share));
    product = hn::Mul(product, splat(share));
    const V inverse = load(inverse_deviation, 0, l);
    for (std::size_t i = 0; i < y.features; ++i) {
      const V centred = hn::NegMulAdd(load(normalised, i, l), product, hn::Sub(load(y, i, l), sum));
      store(hn::Mul(hn::Mul(splat(gamma[i]), inverse), centred), y, i, l);
    }
  }
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
HWY_EXPORT(Scale);
HWY_EXPORT(AddScaled);
HWY_EXPORT(FillRows);
HWY_EXPORT(AddBias);
HWY_EXPORT(AddRowSums);
HWY_EXPORT(AddRowDots);
HWY_EXPORT(DotFeatures);
HWY_EXPORT(ScaleLanes);
HWY_EXPORT(ActivateAddNormalise);
HWY_EXPORT(ActivateAddNormaliseReverse);
HWY_EXPORT(AddNormSums);
HWY_EXPORT(ActivateAddNormaliseTangent);
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
void scale(float alpha, ConstBlock x, Block out, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(Scale)(alpha, x, out, accumulate);
}
void add_scaled(ConstBlock x, float alpha, ConstBlock y, Block out) {
  HWY_DYNAMIC_DISPATCH(AddScaled)(x, alpha, y, out);
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
void activate_add_normalise(const NormCall& call) { HWY_DYNAMIC_DISPATCH(ActivateAddNormalise)(call); }
void activate_add_normalise_reverse(const NormReverseCall& call) {
  HWY_DYNAMIC_DISPATCH(ActivateAddNormaliseReverse)(call);
}
void add_norm_sums(const NormSums& sums, float* b, float* gamma, float* beta) {
  HWY_DYNAMIC_DISPATCH(AddNormSums)(sums, b, gamma, beta);
}
void activate_add_normalise_tangent(ConstBlock slope, ConstBlock normalised, ConstBlock inverse_deviation,
                                    const float* gamma, ConstBlock u, ConstBlock e, ConstBlock h, Block y) {
  HWY_DYNAMIC_DISPATCH(ActivateAddNormaliseTangent)(slope, normalised, inverse_deviation, gamma, u, e, h, y);
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

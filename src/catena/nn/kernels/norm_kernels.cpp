#include "catena/nn/kernels/norm_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/nn/kernels/norm_kernels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

#include "catena/nn/kernels/simd_math-inl.h"
#include "catena/nn/kernels/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

using kernels::NormCall;
using kernels::NormReverseCall;
using kernels::NormSums;

/// Calls body(integral constant of the number of vectors, first lane) for chunks of `most` vectors and what is left.
template <int most, class Body>
HWY_INLINE void for_chunks(std::size_t lanes, Body body) {
  const std::size_t n = hn::Lanes(D());
  const std::size_t end = padded_lanes(lanes);
  std::size_t l = 0;
  for (; l + most * n <= end; l += most * n) body(std::integral_constant<int, most>(), l);
  for (; l < end; l += n) body(std::integral_constant<int, 1>(), l);
}

// Enough independent work to hide latency, whose sums fit into the registers.
constexpr int chunk_vectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

/// A row of a block and how far it is to the next. The chunks below hold these in local variables, because the compiler
/// must assume that a store of a vector changes what a reference points to.
template <class T>
struct Row {
  T* at;
  std::size_t stride;
  /// Of a block without data: steps nowhere.
  Row(const BasicBlock<T>& block, std::size_t lane)
      : at(block.data == nullptr ? nullptr : block.data + lane), stride(block.data == nullptr ? 0 : block.stride) {}
  HWY_INLINE void next() { at += stride; }
};

/// Stores wait for lines that are not in the first cache; a loop that is busy with arithmetic has the time to ask for
/// them.
HWY_INLINE void fetch_to_write(const float* line) { __builtin_prefetch(line, 1); }

template <int K, bool keep>
HWY_NOINLINE void gelu_add_chunk(const ConstBlock& u_block, const float* b, const ConstBlock& h_block,
                                 const Block& r_block, const Block& slope_block, const Block& next_block,
                                 std::size_t first) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  Row<const float> u(u_block, first), h(h_block, first);
  Row<float> r(r_block, first), slopes(slope_block, first), next(next_block, first);
  const Gelu gelu;
  for (std::size_t i = 0; i < u_block.features; ++i) {
    const V bias = splat(b[i]);
    for (int k = 0; k < K; ++k) {
      const std::size_t l = static_cast<std::size_t>(k) * n;
      fetch_to_write(next.at + l);
      V slope;
      const V y = gelu(hn::Add(hn::Load(d, u.at + l), bias), keep ? &slope : nullptr);
      if constexpr (keep) hn::Store(slope, d, slopes.at + l);
      hn::Store(hn::Add(y, hn::Load(d, h.at + l)), d, r.at + l);
    }
    u.next(), h.next(), r.next(), next.next();
    if constexpr (keep) slopes.next();
  }
}

void GeluAdd(const ConstBlock& u, const float* b, const ConstBlock& h, const Block& r, const Block& slope,
             const Block& next) {
  for_chunks<chunk_vectors>(u.lanes, [&](auto width, std::size_t first) {
    constexpr int K = decltype(width)::value;
    if (slope.data != nullptr) return gelu_add_chunk<K, true>(u, b, h, r, slope, next, first);
    return gelu_add_chunk<K, false>(u, b, h, r, slope, next, first);
  });
}

/// K vectors of lanes, all features.
template <int K, bool keep>
HWY_NOINLINE void normalise_chunk(const NormCall& call, std::size_t first) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  const std::size_t features = call.r.features;
  const V share = splat(1.0F / static_cast<float>(features));
  Row<const float> r(call.r, first);

  // Sums of r and r² around the lane's own first r, which lies within the spread of the others: no cancellation.
  V origin[K], sum[K], squares[K];
  for (int k = 0; k < K; ++k) {
    origin[k] = hn::Load(d, r.at + static_cast<std::size_t>(k) * n);
    sum[k] = squares[k] = hn::Zero(d);
  }
  for (std::size_t i = 1; i < features; ++i) {
    r.next();
    for (int k = 0; k < K; ++k) {
      const V deviation = hn::Sub(hn::Load(d, r.at + static_cast<std::size_t>(k) * n), origin[k]);
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

  r = Row<const float>(call.r, first);
  Row<float> y(call.y, first), normalised(call.normalised, first);
  const float* gammas = call.gamma;
  const float* betas = call.beta;
  for (std::size_t i = 0; i < features; ++i) {
    const V gamma = splat(gammas[i]);
    const V beta = splat(betas[i]);
    for (int k = 0; k < K; ++k) {
      const std::size_t l = static_cast<std::size_t>(k) * n;
      const V x = hn::MulSub(hn::Load(d, r.at + l), inverse[k], shift[k]);
      if constexpr (keep) hn::Store(x, d, normalised.at + l);
      hn::Store(hn::MulAdd(gamma, x, beta), d, y.at + l);
    }
    r.next(), y.next();
    if constexpr (keep) normalised.next();
  }
}

void Normalise(const NormCall& call) {
  for_chunks<chunk_vectors>(call.r.lanes, [&](auto width, std::size_t first) {
    constexpr int K = decltype(width)::value;
    if (call.normalised.data != nullptr) return normalise_chunk<K, true>(call, first);
    return normalise_chunk<K, false>(call, first);
  });
}

/// K vectors of lanes, all features. `full`: all of these lanes count.
/// With x̂ = (r − mean) v and v = 1/√(variance + ε), q = γ g:  ∂L/∂r = v (q − mean(q) − x̂ mean(q x̂)).
template <int K, bool full, bool has_slope>
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
    V gamma_sum = hn::Load(d, gamma_sums + i * 16);
    V beta_sum = hn::Load(d, beta_sums + i * 16);
    for (int k = 0; k < K; ++k) {
      const std::size_t l = static_cast<std::size_t>(k) * n;
      const V gk = hn::Load(d, g.at + l);
      const V gx = hn::Mul(gk, hn::Load(d, normalised.at + l));
      q_sum[k] = hn::MulAdd(gamma, gk, q_sum[k]);
      qx_sum[k] = hn::MulAdd(gamma, gx, qx_sum[k]);
      gamma_sum = hn::Add(gamma_sum, counted(gx, k));
      beta_sum = hn::Add(beta_sum, counted(gk, k));
    }
    hn::Store(gamma_sum, d, gamma_sums + i * 16);
    hn::Store(beta_sum, d, beta_sums + i * 16);
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
  Row<float> gu(call.u, first), ge(call.e, first), gr(call.r, first);
  const bool has_u = call.u.data != nullptr, has_e = call.e.data != nullptr, has_r = call.r.data != nullptr;
  const bool add_u = call.add_u, add_e = call.add_e, add_r = call.add_r;
  const auto put = [](V v, float* where, bool add) {
    hn::Store(add ? hn::Add(hn::Load(D(), where), v) : v, D(), where);
  };
  for (std::size_t i = 0; i < features; ++i) {
    const V gamma = splat(gammas[i]);
    V r[K], x[K];
    V b_sum = hn::Load(d, b_sums + i * 16);
    for (int k = 0; k < K; ++k) {
      const std::size_t l = static_cast<std::size_t>(k) * n;
      const V centred = hn::MulSub(gamma, hn::Mul(hn::Load(d, g.at + l), inverse[k]), q_sum[k]);
      r[k] = hn::NegMulAdd(hn::Load(d, normalised.at + l), qx_sum[k], centred);
      x[k] = r[k];
      if constexpr (has_slope) x[k] = hn::Mul(r[k], hn::Load(d, slopes.at + l));
      b_sum = hn::Add(b_sum, counted(x[k], k));
    }
    hn::Store(b_sum, d, b_sums + i * 16);
    if (has_r) {
      for (int k = 0; k < K; ++k) put(r[k], gr.at + static_cast<std::size_t>(k) * n, add_r);
    }
    if (has_e) {
      for (int k = 0; k < K; ++k) put(x[k], ge.at + static_cast<std::size_t>(k) * n, add_e);
    }
    if (has_u) {
      for (int k = 0; k < K; ++k) put(x[k], gu.at + static_cast<std::size_t>(k) * n, add_u);
    }
    g.next(), normalised.next(), gu.next(), ge.next(), gr.next();
    if constexpr (has_slope) slopes.next();
  }
}

void NormaliseReverse(const NormReverseCall& call) {
  const std::size_t n = hn::Lanes(D());
  const auto run = [&](auto has_slope) {
    for_chunks<chunk_vectors>(call.g.lanes, [&](auto width, std::size_t first) {
      constexpr int K = decltype(width)::value;
      constexpr bool slope = decltype(has_slope)::value;
      if (first + K * n <= call.g.lanes) return normalise_reverse_chunk<K, true, slope>(call, first);
      return normalise_reverse_chunk<K, false, slope>(call, first);
    });
  };
  if (call.slope.data != nullptr) return run(std::true_type());
  return run(std::false_type());
}

void AddNormSums(const NormSums& sums, float* b, float* gamma, float* beta) {
  const D d;
  const hn::FixedTag<float, 4> four;
  const auto collect = [&](const float* partial, float* to) {
    if (to == nullptr) return;
    const auto at = [&](std::size_t i) { return hn::Load(d, partial + i * 16); };
    std::size_t i = 0;
    for (; i + 4 <= sums.features; i += 4) {
      hn::StoreU(hn::Add(hn::LoadU(four, to + i), four_sums(at(i), at(i + 1), at(i + 2), at(i + 3))), four, to + i);
    }
    for (; i < sums.features; ++i) to[i] += hn::GetLane(hn::SumOfLanes(d, at(i)));
  };
  collect(sums.b, b);
  collect(sums.gamma, gamma);
  collect(sums.beta, beta);
}

HWY_INLINE V load(ConstBlock x, std::size_t f, std::size_t l) { return hn::Load(D(), x.data + f * x.stride + l); }
HWY_INLINE void store(V v, Block x, std::size_t f, std::size_t l) { hn::Store(v, D(), x.data + f * x.stride + l); }

void NormaliseTangent(ConstBlock slope, ConstBlock normalised, ConstBlock inverse_deviation, const float* gamma,
                      ConstBlock u, ConstBlock e, ConstBlock h, Block y) {
  // ṙ = f'·(u̇ + ė) + ḣ;  ẏ = γ v (ṙ − mean(ṙ) − x̂ mean(ṙ x̂))
  const std::size_t n = hn::Lanes(D());
  const float share = 1.0F / static_cast<float>(y.features);
  for (std::size_t l = 0; l < padded_lanes(y.lanes); l += n) {
    V sum = hn::Zero(D());
    V product = hn::Zero(D());
    for (std::size_t i = 0; i < y.features; ++i) {
      V r = hn::Zero(D());
      if (u.data != nullptr) r = hn::Add(r, load(u, i, l));
      if (e.data != nullptr) r = hn::Add(r, load(e, i, l));
      if (slope.data != nullptr) r = hn::Mul(r, load(slope, i, l));
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

}  // namespace catena::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::nn {
HWY_EXPORT(GeluAdd);
HWY_EXPORT(Normalise);
HWY_EXPORT(NormaliseReverse);
HWY_EXPORT(AddNormSums);
HWY_EXPORT(NormaliseTangent);

namespace kernels {

void gelu_add(const ConstBlock& u, const float* b, const ConstBlock& h, const Block& r, const Block& slope,
              const Block& next) {
  HWY_DYNAMIC_DISPATCH(GeluAdd)(u, b, h, r, slope, next);
}
void normalise(const NormCall& call) { HWY_DYNAMIC_DISPATCH(Normalise)(call); }
void normalise_reverse(const NormReverseCall& call) { HWY_DYNAMIC_DISPATCH(NormaliseReverse)(call); }
void add_norm_sums(const NormSums& sums, float* b, float* gamma, float* beta) {
  HWY_DYNAMIC_DISPATCH(AddNormSums)(sums, b, gamma, beta);
}
void normalise_tangent(ConstBlock slope, ConstBlock normalised, ConstBlock inverse_deviation, const float* gamma,
                       ConstBlock u, ConstBlock e, ConstBlock h, Block y) {
  HWY_DYNAMIC_DISPATCH(NormaliseTangent)(slope, normalised, inverse_deviation, gamma, u, e, h, y);
}

}  // namespace kernels
}  // namespace catena::nn
#endif

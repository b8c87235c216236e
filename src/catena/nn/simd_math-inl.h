// Elementary functions on vectors of floats, for the kernels of nn/. Included once per instruction set (Highway's
// convention for -inl.h files). The largest errors are measured and bounded in tests/nn/accuracy_test.cpp.

#if defined(CATENA_NN_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CATENA_NN_SIMD_MATH_INL_H_
#undef CATENA_NN_SIMD_MATH_INL_H_
#else
#define CATENA_NN_SIMD_MATH_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V splat(float value) { return hn::Set(D(), value); }

/// e^x = 2^k e^r with |r| ≤ ½ log 2, where e^r = 1 + r + r² p(r); p is a Chebyshev fit of degree 4 with relative error
/// 1.1e-8. Arguments are cut to ±87, where results are still normal numbers.
HWY_INLINE V exp_cut(V x) {
  const D d;
  const hn::RebindToSigned<D> di;
  x = hn::Min(hn::Max(x, splat(-87)), splat(87));
  const V k = hn::Round(hn::Mul(x, splat(1.44269504F)));
  V r = hn::NegMulAdd(k, splat(0.693359375F), x);  // log 2 in two parts: the first product is exact
  r = hn::NegMulAdd(k, splat(-2.12194440e-4F), r);
  V p = splat(0.0013933643521F);
  p = hn::MulAdd(p, r, splat(0.0083631755655F));
  p = hn::MulAdd(p, r, splat(0.0416664649762F));
  p = hn::MulAdd(p, r, splat(0.1666657700316F));
  p = hn::MulAdd(p, r, splat(0.5000000013462F));
  p = hn::MulAdd(hn::Mul(r, r), p, hn::Add(r, splat(1)));
  const auto power = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, k), hn::Set(di, 127)));
  return hn::Mul(p, hn::BitCast(d, power));
}

/// x cut to ±limit.
HWY_INLINE V cut(V x, float limit) {
#if HWY_TARGET <= HWY_AVX3
  return V{_mm512_range_ps(x.raw, splat(limit).raw, 2)};  // 2: the smaller magnitude, with the sign of x
#else
  return hn::Min(hn::Max(x, splat(-limit)), splat(limit));
#endif
}

/// 2^(a b) to 7.5e-8 (relative) for |a b| ≤ 126: a b = k + f with |f| ≤ ½, where adding 1.5·2²³ leaves k in the low
/// bits of the sum, and a near-minimax polynomial of degree 5 for 2^f, whose exponent k is then added to as an integer.
/// The product is an argument because fused multiply-adds then never round it.
HWY_INLINE V exp2_of_product(V a, V b) {
  const D d;
  const hn::RebindToSigned<D> di;
  const V round = splat(12582912.0F);
  const V shifted = hn::MulAdd(a, b, round);
  const V f = hn::MulSub(a, b, hn::Sub(shifted, round));
  V p = splat(0.0013276460598F);
  p = hn::MulAdd(p, f, splat(0.0096755412435F));
  p = hn::MulAdd(p, f, splat(0.0555071330874F));
  p = hn::MulAdd(p, f, splat(0.2402211972610F));
  p = hn::MulAdd(p, f, splat(0.6931469670432F));
  p = hn::MulAdd(p, f, splat(1.0000000716540F));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

/// s = 1/(1 + e^−x) and 1 − s = e^−x s, which keeps its digits where s is next to 1. Cut at |x| = 87.
struct Logistic {
  V s, complement;
};
HWY_INLINE Logistic logistic_from(V exp_of_minus_x) {
  const V s = hn::Div(splat(1), hn::Add(splat(1), exp_of_minus_x));
  return {s, hn::Mul(exp_of_minus_x, s)};
}
HWY_INLINE Logistic logistic(V x) { return logistic_from(exp_cut(hn::Neg(x))); }

// The activations: y = f(x) and, if asked for, slope = f'(x).

/// x·logistic(2u), u = √(2/π)(x + 0.044715 x³): the tanh form of x·Φ(x), because ½(1 + tanh u) = logistic(2u).
struct Gelu {
  HWY_INLINE V operator()(V x, V* slope) const {
    constexpr float c = 1.5957691216057308F;   // 2√(2/π)
    constexpr float to_two = -1.44269504089F;  // e^−2u = 2^(−2u log₂ e)
    const V near = cut(x, 10);                 // e^−2u is 2^±126 there
    const V x2 = hn::Mul(near, near);
    const V factor = hn::MulAdd(x2, splat(to_two * c * 0.044715F), splat(to_two * c));
    const Logistic l = logistic_from(exp2_of_product(near, factor));
    const V y = hn::Mul(x, l.s);
    if (slope != nullptr) {
      // s + x s(1 − s)·2u' = s + y(1 − s)·2u'
      const V twice_u_slope = hn::MulAdd(x2, splat(3 * c * 0.044715F), splat(c));
      *slope = hn::MulAdd(hn::Mul(y, l.complement), twice_u_slope, l.s);
    }
    return y;
  }
};

struct Silu {
  HWY_INLINE V operator()(V x, V* slope) const {
    const Logistic l = logistic(x);
    const V y = hn::Mul(x, l.s);
    if (slope != nullptr) *slope = hn::MulAdd(y, l.complement, l.s);
    return y;
  }
};

struct Tanh {
  HWY_INLINE V operator()(V x, V* slope) const {
    const V y = hn::Tanh(D(), x);
    if (slope != nullptr) *slope = hn::NegMulAdd(y, y, splat(1));
    return y;
  }
};

struct Sigmoid {
  HWY_INLINE V operator()(V x, V* slope) const {
    const Logistic l = logistic(x);
    if (slope != nullptr) *slope = hn::Mul(l.s, l.complement);
    return l.s;
  }
};

/// log(1 + e^x) = max(x, 0) + log(1 + e^−|x|)
struct Softplus {
  HWY_INLINE V operator()(V x, V* slope) const {
    if (slope != nullptr) *slope = logistic(x).s;
    return hn::Add(hn::Max(x, splat(0)), hn::Log1p(D(), exp_cut(hn::Neg(hn::Abs(x)))));
  }
};

struct Exp {
  HWY_INLINE V operator()(V x, V* slope) const {
    const V y = hn::Exp(D(), x);
    if (slope != nullptr) *slope = y;
    return y;
  }
};

struct Log {
  HWY_INLINE V operator()(V x, V* slope) const {
    if (slope != nullptr) *slope = hn::Div(splat(1), x);
    return hn::Log(D(), x);
  }
};

struct Identity {
  HWY_INLINE V operator()(V x, V* slope) const {
    if (slope != nullptr) *slope = splat(1);
    return x;
  }
};

}  // namespace catena::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

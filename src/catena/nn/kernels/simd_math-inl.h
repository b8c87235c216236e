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

/// 2^(a b) for |a b| ≤ 126. The product is an argument because fused multiply-adds then never round it.
#if HWY_TARGET <= HWY_AVX3

/// 2^(j/32), j = 0 … 31.
HWY_ALIGN constexpr float roots_of_two[32] = {
    1.0F,        1.02189715F, 1.04427378F, 1.0671404F,  1.09050773F, 1.11438674F, 1.13878863F, 1.16372486F,
    1.18920712F, 1.21524736F, 1.24185781F, 1.26905096F, 1.29683955F, 1.32523664F, 1.35425555F, 1.38390988F,
    1.41421356F, 1.44518081F, 1.47682615F, 1.50916443F, 1.54221083F, 1.57598085F, 1.61049033F, 1.64575548F,
    1.68179283F, 1.7186193F,  1.75625216F, 1.79470908F, 1.83400809F, 1.87416763F, 1.91520656F, 1.95714412F};

/// a b = k + j/32 + f with |f| ≤ 1/64: adding 1.5·2¹⁸ leaves j in the low five bits of the sum, where a permutation of
/// two registers reads it, and taking it off again leaves k + j/32, of which scalef takes k. 2^f = 1 + f (c₁ + c₂ f) to
/// 5.3e-08, the coefficients minimax.
HWY_INLINE V exp2_of_product(V a, V b) {
  const D d;
  const V round = splat(393216.0F);
  const V shifted = hn::MulAdd(a, b, round);
  const V rounded = hn::Sub(shifted, round);
  const V f = hn::MulSub(a, b, rounded);
  const V root{_mm512_permutex2var_ps(hn::Load(d, roots_of_two).raw, _mm512_castps_si512(shifted.raw),
                                      hn::Load(d, roots_of_two + 16).raw)};
  const V p = hn::MulAdd(f, splat(0.240226492F), splat(0.693157315F));
  return V{_mm512_scalef_ps(hn::MulAdd(hn::Mul(root, f), p, root).raw, rounded.raw)};
}

/// 1/x to an ulp: the machine's estimate of 14 bits and a step of Newton's, for 2⁻¹²⁶ ≤ x ≤ 2¹²⁶.
HWY_INLINE V reciprocal(V x) {
  const V estimate = hn::ApproximateReciprocal(x);
  return hn::Mul(estimate, hn::NegMulAdd(x, estimate, splat(2)));
}

#else

/// a b = k + f with |f| ≤ ½, where adding 1.5·2²³ leaves k in the low bits of the sum, and a near-minimax polynomial of
/// degree 5 for 2^f (7.5e-8), whose exponent k is then added to as an integer.
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

HWY_INLINE V reciprocal(V x) { return hn::Div(splat(1), x); }

#endif

/// s = 1/(1 + e^−x) and 1 − s = e^−x s, which keeps its digits where s is next to 1. Cut at |x| = 87.
struct Logistic {
  V s, complement;
};
HWY_INLINE Logistic logistic_from(V exp_of_minus_x) {
  const V s = reciprocal(hn::Add(splat(1), exp_of_minus_x));
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

/// max(x, 0), whose slope at 0 is 0
struct Relu {
  HWY_INLINE V operator()(V x, V* slope) const {
    if (slope != nullptr) *slope = hn::IfThenElseZero(hn::Gt(x, splat(0)), splat(1));
    return hn::Max(x, splat(0));
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

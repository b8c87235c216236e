// Cosine and sine of a part of a full turn, on vectors. Included once per instruction set (Highway's convention for
// -inl.h files).

#if defined(CATENA_CORE_SIMD_TURN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CATENA_CORE_SIMD_TURN_INL_H_
#undef CATENA_CORE_SIMD_TURN_INL_H_
#else
#define CATENA_CORE_SIMD_TURN_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace catena::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// cos(2πu) and sin(2πu) for 0 ≤ u ≤ 1: u = (quadrant + r)/4 with |r| ≤ ½, then Taylor sums of sin and cos of πr/2,
/// whose next terms are below half a unit in the last place on that interval.
template <class D, class V>
HWY_INLINE void cos_sin_turn(D d, V u, V& cosine, V& sine) {
  using T = hn::TFromD<D>;
  const V quarters = hn::Mul(u, hn::Set(d, T{4}));
  const V quadrant = hn::Round(quarters);
  const V r = hn::Mul(hn::Sub(quarters, quadrant), hn::Set(d, static_cast<T>(1.57079632679489661923)));
  const V r2 = hn::Mul(r, r);
  // 1/k! with alternating signs.
  constexpr double sin_terms[] = {-1 / 6.0,        1 / 120.0,        -1 / 5040.0,          1 / 362880.0,
                                  -1 / 39916800.0, 1 / 6227020800.0, -1 / 1307674368000.0, 1 / 355687428096000.0};
  constexpr double cos_terms[] = {-1 / 2.0,       1 / 24.0,        -1 / 720.0,         1 / 40320.0,
                                  -1 / 3628800.0, 1 / 479001600.0, -1 / 87178291200.0, 1 / 20922789888000.0};
  constexpr int terms = sizeof(T) == 8 ? 8 : 5;
  V s = hn::Set(d, static_cast<T>(sin_terms[terms - 1]));
  V c = hn::Set(d, static_cast<T>(cos_terms[terms - 1]));
  for (int i = terms - 2; i >= 0; --i) {
    s = hn::MulAdd(s, r2, hn::Set(d, static_cast<T>(sin_terms[i])));
    c = hn::MulAdd(c, r2, hn::Set(d, static_cast<T>(cos_terms[i])));
  }
  s = hn::MulAdd(hn::Mul(s, r2), r, r);
  c = hn::MulAdd(c, r2, hn::Set(d, T{1}));
  const auto odd = hn::Or(hn::Eq(quadrant, hn::Set(d, T{1})), hn::Eq(quadrant, hn::Set(d, T{3})));
  const auto flip_cos = hn::Or(hn::Eq(quadrant, hn::Set(d, T{1})), hn::Eq(quadrant, hn::Set(d, T{2})));
  const auto flip_sin = hn::Or(hn::Eq(quadrant, hn::Set(d, T{2})), hn::Eq(quadrant, hn::Set(d, T{3})));
  const V swapped_c = hn::IfThenElse(odd, s, c);
  const V swapped_s = hn::IfThenElse(odd, c, s);
  cosine = hn::IfThenElse(flip_cos, hn::Neg(swapped_c), swapped_c);
  sine = hn::IfThenElse(flip_sin, hn::Neg(swapped_s), swapped_s);
}

}  // namespace catena::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

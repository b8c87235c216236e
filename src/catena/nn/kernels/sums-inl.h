// Sums across the lanes of vectors, for the kernels of nn/. Included once per instruction set (Highway's convention for
// -inl.h files).

#if defined(CATENA_NN_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CATENA_NN_SUMS_INL_H_
#undef CATENA_NN_SUMS_INL_H_
#else
#define CATENA_NN_SUMS_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

/// The sums of four vectors as four lanes: halves are added pairwise while the vectors are interleaved.
HWY_INLINE hn::Vec<hn::FixedTag<float, 4>> four_sums(V a, V b, V c, V e) {
  const D d;
  const hn::Repartition<double, D> d64;
  const auto join = [&](V p, V q) { return hn::Add(hn::InterleaveLower(d, p, q), hn::InterleaveUpper(d, p, q)); };
  const auto ab = hn::BitCast(d64, join(a, b));  // (a₀+a₂, b₀+b₂, a₁+a₃, b₁+b₃) in every 128 bits
  const auto ce = hn::BitCast(d64, join(c, e));
  V sums = hn::Add(hn::BitCast(d, hn::InterleaveLower(d64, ab, ce)), hn::BitCast(d, hn::InterleaveUpper(d64, ab, ce)));
#if HWY_TARGET <= HWY_AVX3
  const auto half = hn::Add(hn::LowerHalf(hn::Half<D>(), sums), hn::UpperHalf(hn::Half<D>(), sums));
  const hn::Half<hn::Half<D>> quarter;
  return hn::Add(hn::LowerHalf(quarter, half), hn::UpperHalf(quarter, half));
#elif HWY_TARGET <= HWY_AVX2
  return hn::Add(hn::LowerHalf(hn::Half<D>(), sums), hn::UpperHalf(hn::Half<D>(), sums));
#else
  return sums;
#endif
}

}  // namespace catena::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#include "catena/nn/kernels/distance_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/nn/kernels/distance_kernels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

void DistancesFrom(const ConstBlock& x, std::size_t i, float* out) {
  const D d;
  for (std::size_t l = 0; l < padded_lanes(x.lanes); l += hn::Lanes(d)) {
    V squares = hn::Zero(d);
    for (std::size_t f = 0; f < x.features; ++f) {
      const V difference = hn::Sub(hn::Load(d, x.feature(f) + l), hn::Set(d, x(f, i)));
      squares = hn::MulAdd(difference, difference, squares);
    }
    hn::Store(hn::Sqrt(squares), d, out + l);
  }
}

void AddDifferencesFrom(const ConstBlock& x, std::size_t i, const float* weight, const Block& out) {
  const D d;
  for (std::size_t f = 0; f < x.features; ++f) {
    const V at = hn::Set(d, x(f, i));
    for (std::size_t l = 0; l < padded_lanes(x.lanes); l += hn::Lanes(d)) {
      const V difference = hn::Sub(hn::Load(d, x.feature(f) + l), at);
      hn::Store(hn::MulAdd(hn::Load(d, weight + l), difference, hn::Load(d, out.feature(f) + l)), d,
                out.feature(f) + l);
    }
  }
}

}  // namespace catena::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::nn {
HWY_EXPORT(DistancesFrom);
HWY_EXPORT(AddDifferencesFrom);

namespace kernels {

void distances_from(const ConstBlock& x, std::size_t i, float* out) { HWY_DYNAMIC_DISPATCH(DistancesFrom)(x, i, out); }
void add_differences_from(const ConstBlock& x, std::size_t i, const float* weight, const Block& out) {
  HWY_DYNAMIC_DISPATCH(AddDifferencesFrom)(x, i, weight, out);
}

}  // namespace kernels
}  // namespace catena::nn
#endif

#include "catena/nn/kernels/group_norm_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/nn/kernels/group_norm_kernels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

/// Calls body(feature, channel) for every member of a group.
template <class Body>
HWY_INLINE void for_group(const kernels::ChannelGroups& shape, std::size_t group, Body body) {
  const std::size_t width = shape.channels / shape.groups;
  for (std::size_t p = 0; p < shape.places; ++p) {
    for (std::size_t c = group * width; c < (group + 1) * width; ++c) body(p * shape.channels + c, c);
  }
}

HWY_INLINE V one_over_size(const kernels::ChannelGroups& shape) {
  const std::size_t size = shape.places * (shape.channels / shape.groups);
  return hn::Set(D(), 1.0F / static_cast<float>(size));
}

void NormaliseGroups(const kernels::GroupNormCall& call) {
  const D d;
  const V share = one_over_size(call.shape);
  for (std::size_t group = 0; group < call.shape.groups; ++group) {
    for (std::size_t l = 0; l < padded_lanes(call.x.lanes); l += hn::Lanes(d)) {
      const auto x = [&](std::size_t f) { return hn::Load(d, call.x.feature(f) + l); };
      V sum = hn::Zero(d);
      for_group(call.shape, group, [&](std::size_t f, std::size_t) { sum = hn::Add(sum, x(f)); });
      const V mean = hn::Mul(sum, share);
      V squares = hn::Zero(d);
      for_group(call.shape, group, [&](std::size_t f, std::size_t) {
        const V r = hn::Sub(x(f), mean);
        squares = hn::MulAdd(r, r, squares);
      });
      const V variance = hn::MulAdd(squares, share, hn::Set(d, call.epsilon));
      const V inverse = hn::Div(hn::Set(d, 1.0F), hn::Sqrt(variance));
      for_group(call.shape, group, [&](std::size_t f, std::size_t c) {
        const V normalised = hn::Mul(hn::Sub(x(f), mean), inverse);
        if (call.normalised.data != nullptr) hn::Store(normalised, d, call.normalised.feature(f) + l);
        hn::Store(hn::MulAdd(hn::Set(d, call.gamma[c]), normalised, hn::Set(d, call.beta[c])), d,
                  call.y.feature(f) + l);
      });
      if (call.inverse_deviation.data != nullptr) hn::Store(inverse, d, call.inverse_deviation.feature(group) + l);
    }
  }
}

void DifferentiateGroups(const kernels::GroupNormDerivative& call) {
  const D d;
  const V share = one_over_size(call.shape);
  const auto factor = [&](const float* factors, std::size_t c) {
    return hn::Set(d, factors == nullptr ? 1.0F : factors[c]);
  };
  for (std::size_t group = 0; group < call.shape.groups; ++group) {
    for (std::size_t l = 0; l < padded_lanes(call.v.lanes); l += hn::Lanes(d)) {
      const auto w = [&](std::size_t f, std::size_t c) {
        return hn::Mul(factor(call.before, c), hn::Load(d, call.v.feature(f) + l));
      };
      const auto normalised = [&](std::size_t f) { return hn::Load(d, call.normalised.feature(f) + l); };
      V sum = hn::Zero(d), along = hn::Zero(d);
      for_group(call.shape, group, [&](std::size_t f, std::size_t c) {
        sum = hn::Add(sum, w(f, c));
        along = hn::MulAdd(w(f, c), normalised(f), along);
      });
      const V mean = hn::Mul(sum, share), slope = hn::Mul(along, share);
      const V inverse = hn::Load(d, call.inverse_deviation.feature(group) + l);
      for_group(call.shape, group, [&](std::size_t f, std::size_t c) {
        const V moved = hn::NegMulAdd(normalised(f), slope, hn::Sub(w(f, c), mean));
        V value = hn::Mul(hn::Mul(factor(call.after, c), inverse), moved);
        float* out = call.out.feature(f) + l;
        if (call.accumulate) value = hn::Add(value, hn::Load(d, out));
        hn::Store(value, d, out);
      });
    }
  }
}

}  // namespace catena::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::nn {
HWY_EXPORT(NormaliseGroups);
HWY_EXPORT(DifferentiateGroups);

namespace kernels {

void normalise_groups(const GroupNormCall& call) { HWY_DYNAMIC_DISPATCH(NormaliseGroups)(call); }
void differentiate_groups(const GroupNormDerivative& call) { HWY_DYNAMIC_DISPATCH(DifferentiateGroups)(call); }

}  // namespace kernels
}  // namespace catena::nn
#endif

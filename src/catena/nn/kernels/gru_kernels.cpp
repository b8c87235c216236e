#include "catena/nn/kernels/gru_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/nn/kernels/gru_kernels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

void GruState(const ConstBlock& h, const ConstBlock& z, const ConstBlock& n, const ConstBlock& m, const Block& out) {
  const D d;
  const V one = hn::Set(d, 1.0F);
  for (std::size_t f = 0; f < h.features; ++f) {
    for (std::size_t l = 0; l < padded_lanes(h.lanes); l += hn::Lanes(d)) {
      const V before = hn::Load(d, h.feature(f) + l);
      const V open = hn::Sub(one, hn::Load(d, z.feature(f) + l));
      const V weight = m.data == nullptr ? open : hn::Mul(hn::Load(d, m.data + l), open);
      const V step = hn::Sub(hn::Load(d, n.feature(f) + l), before);
      hn::Store(hn::MulAdd(weight, step, before), d, out.feature(f) + l);
    }
  }
}

void GruReverse(const kernels::GruReverse& call) {
  const D d;
  const V one = hn::Set(d, 1.0F);
  const std::size_t units = call.h.features;
  for (std::size_t l = 0; l < padded_lanes(call.h.lanes); l += hn::Lanes(d)) {
    const V m = call.m.data == nullptr ? one : hn::Load(d, call.m.data + l);
    V g_m = hn::Zero(d);
    for (std::size_t f = 0; f < units; ++f) {
      const auto at = [&](const auto& block) { return hn::Load(d, block.feature(f) + l); };
      const V r = at(call.r), z = at(call.z), n = at(call.n), u = at(call.u), h = at(call.h);
      const V g = hn::Add(at(call.g_output), at(call.g_later));
      const V open = hn::Sub(one, z), step = hn::Sub(n, h), g_step = hn::Mul(g, m);
      g_m = hn::MulAdd(hn::Mul(g, open), step, g_m);
      const V a_n = hn::Mul(hn::Mul(g_step, open), hn::NegMulAdd(n, n, one));
      const V a_z = hn::Neg(hn::Mul(hn::Mul(g_step, step), hn::Mul(z, open)));
      const V a_r = hn::Mul(hn::Mul(a_n, u), hn::Mul(r, hn::Sub(one, r)));
      hn::Store(a_r, d, call.gates.feature(f) + l);
      hn::Store(a_z, d, call.gates.feature(units + f) + l);
      hn::Store(a_n, d, call.gates.feature(2 * units + f) + l);
      hn::Store(hn::Mul(a_n, r), d, call.g_u.feature(f) + l);
      hn::Store(hn::NegMulAdd(g_step, open, g), d, call.g_later.feature(f) + l);
    }
    if (call.g_m.data == nullptr) continue;
    if (call.accumulate_m) g_m = hn::Add(g_m, hn::Load(d, call.g_m.data + l));
    hn::Store(g_m, d, call.g_m.data + l);
  }
}

}  // namespace catena::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::nn {
HWY_EXPORT(GruState);
HWY_EXPORT(GruReverse);

namespace kernels {

void gru_state(const ConstBlock& h, const ConstBlock& z, const ConstBlock& n, const ConstBlock& m, const Block& out) {
  HWY_DYNAMIC_DISPATCH(GruState)(h, z, n, m, out);
}
void gru_reverse(const GruReverse& call) { HWY_DYNAMIC_DISPATCH(GruReverse)(call); }

}  // namespace kernels
}  // namespace catena::nn
#endif

#include "catena/nn/kernels/spline_kernels.h"

#include <memory>

#include "catena/nn/kernels/rational_quadratic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/nn/kernels/spline_kernels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using kernels::Spline;

// Doubles inside: a narrow bin divides by its width twice in the slope's derivative, and the rounding of knots in
// floats would be seen there (5e-5 for bins of a twentieth of the interval).
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using F = hn::Rebind<float, D>;

HWY_INLINE V splat(double value) { return hn::Set(D(), value); }
HWY_INLINE V load(const float* from) { return hn::PromoteTo(D(), hn::Load(F(), from)); }
HWY_INLINE void store(V value, float* to) { hn::Store(hn::DemoteTo(F(), value), F(), to); }
HWY_INLINE V kept(const double* from) { return hn::Load(D(), from); }

/// One side of the bins (widths or heights), and of the chosen bin its start, its size, its share and the sum of the
/// shares before it.
struct Side {
  V start, size, share, before;
};

/// Shares p_k = softmax(r)_k into `shares`; bins are 2B(least + spread p_k) wide.
HWY_INLINE void find_shares(const Spline& spline, const float* raw, std::size_t stride, double* shares) {
  const D d;
  V largest = load(raw);
  for (std::size_t k = 1; k < spline.bins; ++k) largest = hn::Max(largest, load(raw + k * stride));
  V total = hn::Zero(d);
  for (std::size_t k = 0; k < spline.bins; ++k) {
    const V e = hn::Exp(d, hn::Sub(load(raw + k * stride), largest));
    hn::Store(e, d, shares + k * hn::Lanes(d));
    total = hn::Add(total, e);
  }
  const V inverse = hn::Div(splat(1), total);
  for (std::size_t k = 0; k < spline.bins; ++k) {
    hn::Store(hn::Mul(kept(shares + k * hn::Lanes(d)), inverse), d, shares + k * hn::Lanes(d));
  }
}

/// Walks along the bins of one side; `chosen(k, start)` is where bin k is the one wanted, so far as is known: the last
/// one that says so counts.
template <class Chosen>
HWY_INLINE Side walk(const Spline& spline, const double* shares, const Chosen& chosen) {
  const D d;
  const auto bins = static_cast<double>(spline.bins);
  const V least = splat(2.0 * spline.bound * spline::least_share);
  const V spread = splat(2.0 * spline.bound * (1 - spline::least_share * bins));
  V at = splat(-spline.bound), before = hn::Zero(d);
  Side side{at, at, before, before};
  for (std::size_t k = 0; k < spline.bins; ++k) {
    const V share = kept(shares + k * hn::Lanes(d));
    const V size = hn::MulAdd(spread, share, least);
    const auto here = chosen(k, at);
    side.start = hn::IfThenElse(here, at, side.start);
    side.size = hn::IfThenElse(here, size, side.size);
    side.share = hn::IfThenElse(here, share, side.share);
    side.before = hn::IfThenElse(here, before, side.before);
    at = hn::Add(at, size);
    before = hn::Add(before, share);
  }
  return side;
}

/// The slope at a knot and its derivative by the raw one; the outermost knots have slope 1.
struct Slope {
  V value, by_raw;
};
HWY_INLINE Slope slope_of(V raw, hn::Mask<D> inner) {
  const D d;
  const V x = hn::Add(raw, splat(spline::slope_offset)), e = hn::Exp(d, hn::Neg(hn::Abs(x)));
  const V value = hn::Add(splat(spline::least_slope), hn::Add(hn::Max(x, hn::Zero(d)), hn::Log1p(d, e)));
  const V less = hn::Div(e, hn::Add(splat(1), e));  // the logistic function of −|x|
  const V by_raw = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), less, hn::Sub(splat(1), less));
  return {hn::IfThenElse(inner, value, splat(1)), hn::IfThenElseZero(inner, by_raw)};
}

/// ∂ of one output by the numbers that describe a bin, and by v.
struct BinPartials {
  V x, w, y, h, d0, d1, v;
};

/// Partial derivatives by the raw parameters: with shares p, and g_j = ∂/∂(start) for j < k, ∂/∂(size) for j = k, else
/// 0, ∂/∂r_j = 2B spread p_j (g_j − Σ_i p_i g_i).
HWY_INLINE void store_partials(const Spline& spline, const double* shares, const Side* sides, V index,
                               const Slope* slopes, const BinPartials& by, hn::Mask<D> inside, float* out,
                               std::size_t stride) {
  const D d;
  const std::size_t bins = spline.bins;
  const auto count = static_cast<double>(bins);
  const V spread = splat(2.0 * spline.bound * (1 - spline::least_share * count));
  for (std::size_t side = 0; side < 2; ++side) {
    const V by_start = side == 0 ? by.x : by.y, by_size = side == 0 ? by.w : by.h;
    const V mean = hn::MulAdd(by_size, sides[side].share, hn::Mul(by_start, sides[side].before));
    for (std::size_t j = 0; j < bins; ++j) {
      const V at = splat(static_cast<double>(j));
      const V direct = hn::IfThenElse(hn::Lt(at, index), by_start, hn::IfThenElseZero(hn::Eq(at, index), by_size));
      const V share = kept(shares + (side * bins + j) * hn::Lanes(d));
      store(hn::IfThenElseZero(inside, hn::Mul(hn::Mul(spread, share), hn::Sub(direct, mean))),
            out + (side * bins + j) * stride);
    }
  }
  const V at_start = hn::Mul(by.d0, slopes[0].by_raw), at_end = hn::Mul(by.d1, slopes[1].by_raw);
  for (std::size_t j = 0; j + 1 < bins; ++j) {  // raw slope j is that of knot j + 1
    const V at = splat(static_cast<double>(j));
    const V value =
        hn::IfThenElse(hn::Eq(at, index), at_end, hn::IfThenElseZero(hn::Eq(hn::Add(at, splat(1)), index), at_start));
    store(hn::IfThenElseZero(inside, value), out + (2 * bins + j) * stride);
  }
}

/// One coordinate of one vector of lanes.
HWY_INLINE void spline_at(const Spline& spline, const float* raw, std::size_t raw_stride, V v, float* value_out,
                          float* slope_out, float* partials, std::size_t stride, double* scratch) {
  const D d;
  const std::size_t bins = spline.bins;
  double *width_shares = scratch, *height_shares = scratch + bins * hn::Lanes(d);
  find_shares(spline, raw, raw_stride, width_shares);
  find_shares(spline, raw + bins * raw_stride, raw_stride, height_shares);
  const auto inside = hn::Lt(hn::Abs(v), splat(spline.bound));
  V index = hn::Zero(d);
  const Side across = walk(spline, width_shares, [&](std::size_t k, V start) {
    const auto here = k == 0 ? hn::Eq(start, start) : hn::Ge(v, start);
    index = hn::IfThenElse(here, splat(static_cast<double>(k)), index);
    return here;
  });
  const Side up =
      walk(spline, height_shares, [&](std::size_t k, V) { return hn::Eq(index, splat(static_cast<double>(k))); });
  V raw_start = hn::Zero(d), raw_end = hn::Zero(d);
  for (std::size_t j = 0; j + 1 < bins; ++j) {
    const V slope = load(raw + (2 * bins + j) * raw_stride), at = splat(static_cast<double>(j));
    raw_end = hn::IfThenElse(hn::Eq(at, index), slope, raw_end);
    raw_start = hn::IfThenElse(hn::Eq(hn::Add(at, splat(1)), index), slope, raw_start);
  }
  const Slope slopes[2] = {slope_of(raw_start, hn::Gt(index, splat(0))),
                           slope_of(raw_end, hn::Lt(index, splat(static_cast<double>(bins - 1))))};
  const V d0 = slopes[0].value, d1 = slopes[1].value, h = up.size;

  const V one = splat(1), two = splat(2), over_w = hn::Div(one, across.size);
  const V s = hn::Mul(h, over_w), xi = hn::Mul(hn::Sub(v, across.start), over_w), rest = hn::Sub(one, xi),
          both = hn::Mul(xi, rest);
  const V bend = hn::NegMulAdd(two, s, hn::Add(d0, d1));            // d₀ + d₁ − 2s
  const V over_bottom = hn::Div(one, hn::MulAdd(bend, both, s));    // 1/D
  const V top = hn::MulAdd(hn::Mul(s, xi), xi, hn::Mul(d0, both));  // f = y + h top/D
  const V q = hn::Mul(top, over_bottom);
  const V steep = hn::MulAdd(hn::Mul(d1, xi), xi, hn::MulAdd(hn::Mul(two, s), both, hn::Mul(d0, hn::Mul(rest, rest))));
  const V ratio = hn::Mul(s, over_bottom);  // f' = (s/D)² steep
  store(hn::IfThenElse(inside, hn::MulAdd(h, q, up.start), v), value_out);
  store(hn::IfThenElseZero(inside, hn::MulAdd(two, hn::Log(d, ratio), hn::Log(d, steep))), slope_out);
  if (partials == nullptr) return;

  // By ξ, s, h, d₀, d₁, and from there by v, x and w: ∂ξ/∂v = 1/w, ∂ξ/∂x = −1/w, ∂ξ/∂w = −ξ/w, ∂s/∂h = 1/w,
  // ∂s/∂w = −s/w. Of f and of log f' = 2 log(s/D) + log steep.
  const V over_steep = hn::Div(one, steep), tilt = hn::NegMulAdd(two, xi, one), open = hn::NegMulAdd(two, both, one);
  const V twice_over = hn::Mul(two, over_bottom);
  const auto partials_of = [&](V by_xi, V by_s, V by_h, V by_d0, V by_d1, V by_y) {
    const V by_v = hn::Mul(by_xi, over_w);
    return BinPartials{hn::Neg(by_v), hn::Neg(hn::Mul(over_w, hn::MulAdd(xi, by_xi, hn::Mul(s, by_s)))),
                       by_y,          hn::MulAdd(by_s, over_w, by_h),
                       by_d0,         by_d1,
                       by_v};
  };
  const V scaled = hn::Mul(h, over_bottom), half = hn::Mul(scaled, both);
  const BinPartials of_value =
      partials_of(hn::Mul(scaled, hn::Mul(ratio, steep)), hn::Mul(scaled, hn::NegMulAdd(q, open, hn::Mul(xi, xi))), q,
                  hn::Mul(half, hn::Sub(one, q)), hn::Neg(hn::Mul(half, q)), one);
  const V steep_by_xi = hn::Mul(two, hn::MulAdd(d1, xi, hn::NegMulAdd(d0, rest, hn::Mul(s, tilt))));
  const V less = hn::Mul(twice_over, both);
  const BinPartials of_slope = partials_of(
      hn::NegMulAdd(hn::Mul(twice_over, bend), tilt, hn::Mul(steep_by_xi, over_steep)),
      hn::Add(hn::Div(two, s), hn::NegMulAdd(twice_over, open, hn::Mul(hn::Mul(two, both), over_steep))), hn::Zero(d),
      hn::MulSub(hn::Mul(rest, rest), over_steep, less), hn::MulSub(hn::Mul(xi, xi), over_steep, less), hn::Zero(d));
  const Side sides[2] = {across, up};
  const std::size_t each = spline.parameters();
  store_partials(spline, scratch, sides, index, slopes, of_value, inside, partials, stride);
  store(hn::IfThenElse(inside, of_value.v, one), partials + each * stride);
  float* second = partials + (each + 1) * stride;
  store_partials(spline, scratch, sides, index, slopes, of_slope, inside, second, stride);
  store(hn::IfThenElseZero(inside, of_slope.v), second + each * stride);
}

void SplineForward(const Spline& spline, const ConstBlock& raw, const ConstBlock& v, const Block& output,
                   const Block& partials, float* scratch) {
  const D d;
  const std::size_t n = v.features, each = spline.parameters(), rows = 2 * (each + 1);
  auto* const shares = reinterpret_cast<double*>(scratch);
  std::uninitialized_fill_n(shares, 2 * spline.bins * hn::Lanes(d), 0.0);  // from here on, doubles live there
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t l = 0; l < padded_lanes(v.lanes); l += hn::Lanes(d)) {
      spline_at(spline, raw.feature(i * each) + l, raw.stride, load(v.feature(i) + l), output.feature(i) + l,
                output.feature(n + i) + l, partials.data == nullptr ? nullptr : partials.feature(i * rows) + l,
                partials.stride, shares);
    }
  }
}

void SplineReverse(const float* g_value, const float* by_value, const float* g_slope, const float* by_slope,
                   std::size_t lanes, bool accumulate, float* out) {
  const hn::ScalableTag<float> d;
  for (std::size_t l = 0; l < padded_lanes(lanes); l += hn::Lanes(d)) {
    const auto first = accumulate ? hn::Load(d, out + l) : hn::Zero(d);
    const auto sum = hn::MulAdd(hn::Load(d, g_value + l), hn::Load(d, by_value + l), first);
    hn::Store(hn::MulAdd(hn::Load(d, g_slope + l), hn::Load(d, by_slope + l), sum), d, out + l);
  }
}

}  // namespace catena::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::nn {
HWY_EXPORT(SplineForward);
HWY_EXPORT(SplineReverse);

namespace kernels {

void spline_forward(const Spline& spline, const ConstBlock& raw, const ConstBlock& v, const Block& output,
                    const Block& partials, float* scratch) {
  HWY_DYNAMIC_DISPATCH(SplineForward)(spline, raw, v, output, partials, scratch);
}
void spline_reverse(const float* g_value, const float* by_value, const float* g_slope, const float* by_slope,
                    std::size_t lanes, bool accumulate, float* out) {
  HWY_DYNAMIC_DISPATCH(SplineReverse)(g_value, by_value, g_slope, by_slope, lanes, accumulate, out);
}

}  // namespace kernels
}  // namespace catena::nn
#endif

// What the steps of tasks share, compiled once per instruction set (Highway's foreach_target): Euler–Maruyama needs its
// noise, a few hundred lanes need one call. Included by tasks/*/step.cpp and gaussian_walk.cpp only.

#if defined(CATENA_TASKS_PARTS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CATENA_TASKS_PARTS_LANES_INL_H_
#undef CATENA_TASKS_PARTS_LANES_INL_H_
#else
#define CATENA_TASKS_PARTS_LANES_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/simulate/simulator.h"

HWY_BEFORE_NAMESPACE();
namespace catena::tasks::parts::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<double>;
using V = hn::Vec<Tag>;

/// Lanes whose noise is drawn at a time: 64 × 80 rows of doubles (linear_sde of 4 states) still leave the second half
/// of a 96 KiB stack frame free, and the rows of every task but that one stay in the first cache.
constexpr std::size_t noise_lanes = 64;

/// Calls body(l, noise) for every vector of lanes, where noise(row) is a vector of standard normals for these lanes;
/// row < noise_rows. The draws of the stream are noise_rows × 64 at a time, row by row.
template <std::size_t noise_rows, class Body>
HWY_INLINE void for_lanes_with_noise(std::size_t lanes, Stream& stream, Body body) {
  const Tag d;
  alignas(64) double values[noise_rows * noise_lanes];
  for (std::size_t begin = 0; begin < lanes; begin += noise_lanes) {
    const std::size_t width = padded_lanes(std::min(noise_lanes, lanes - begin));
    stream.fill_normal({values, noise_rows * width});
    for (std::size_t l = 0; l < width; l += hn::Lanes(d)) {
      const double* first = values + l;
      body(begin + l, [&](std::size_t row) HWY_ATTR { return hn::Load(Tag(), first + row * width); });
    }
  }
}

/// Coordinate i of the vector of lanes that begins at l.
template <class Block>
HWY_INLINE V load(const Block& block, std::size_t i, std::size_t l) {
  return hn::Load(Tag(), block.feature(i) + l);
}

HWY_INLINE void store(V value, StateBlock block, std::size_t i, std::size_t l) {
  hn::Store(value, Tag(), block.feature(i) + l);
}

/// max(x, 0), but NaN stays NaN so that it is noticed.
HWY_INLINE V clip_at_zero(V x) { return hn::IfThenElse(hn::Lt(x, hn::Zero(Tag())), hn::Zero(Tag()), x); }

}  // namespace catena::tasks::parts::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

// A tile of R × C vectors in registers, for the products of nn/. Included once per instruction set (Highway's
// convention for -inl.h files). Nested structures, because GCC keeps arrays of Highway's vectors in memory between
// loops, which costs a matrix product speed.

#if defined(CATENA_NN_REGISTER_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CATENA_NN_REGISTER_TILE_INL_H_
#undef CATENA_NN_REGISTER_TILE_INL_H_
#else
#define CATENA_NN_REGISTER_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

/// C vectors.
template <int C>
struct TileRow {
  V first;
  TileRow<C - 1> rest;

  HWY_INLINE void zero() {
    first = hn::Zero(D());
    rest.zero();
  }
  /// The c-th vector from from[c·step].
  HWY_INLINE void load(const float* from, std::size_t step) {
    first = hn::LoadU(D(), from);
    rest.load(from + step, step);
  }
  /// Likewise, and zero where the mask is not set.
  HWY_INLINE void load(hn::Mask<D> mask, const float* from, std::size_t step) {
    first = hn::MaskedLoad(mask, D(), from);
    rest.load(mask, from + step, step);
  }
  HWY_INLINE void store(float* to, std::size_t step) const {
    hn::StoreU(first, D(), to);
    rest.store(to + step, step);
  }
  HWY_INLINE void add(V v) {
    first = hn::Add(first, v);
    rest.add(v);
  }
  HWY_INLINE void multiply_add(V factor, const TileRow& x) {
    first = hn::MulAdd(factor, x.first, first);
    rest.multiply_add(factor, x.rest);
  }
};

template <>
struct TileRow<0> {
  HWY_INLINE void zero() {}
  HWY_INLINE void load(const float*, std::size_t) {}
  HWY_INLINE void load(hn::Mask<D>, const float*, std::size_t) {}
  HWY_INLINE void store(float*, std::size_t) const {}
  HWY_INLINE void add(V) {}
  HWY_INLINE void multiply_add(V, const TileRow&) {}
};

/// R rows of C vectors. Row r lies at stride·r in memory, its vectors side by side.
template <int R, int C>
struct Tile {
  TileRow<C> first;
  Tile<R - 1, C> rest;

  HWY_INLINE void zero() {
    first.zero();
    rest.zero();
  }
  HWY_INLINE void load(const float* from, std::size_t stride) {
    first.load(from, hn::Lanes(D()));
    rest.load(from + stride, stride);
  }
  HWY_INLINE void store(float* to, std::size_t stride) const {
    first.store(to, hn::Lanes(D()));
    rest.store(to + stride, stride);
  }
  /// Row r += b[r].
  HWY_INLINE void add(const float* b) {
    first.add(hn::Set(D(), *b));
    rest.add(b + 1);
  }
  /// Row r += factors[r·step]·x.
  HWY_INLINE void add_multiples(const float* factors, std::size_t step, const TileRow<C>& x) {
    first.multiply_add(hn::Set(D(), *factors), x);
    rest.add_multiples(factors + step, step, x);
  }
  /// Row r += the vector at rows[r·step], times x lane by lane.
  HWY_INLINE void add_products(const float* rows, std::size_t step, const TileRow<C>& x) {
    first.multiply_add(hn::LoadU(D(), rows), x);
    rest.add_products(rows + step, step, x);
  }
  HWY_INLINE void add_products(hn::Mask<D> mask, const float* rows, std::size_t step, const TileRow<C>& x) {
    first.multiply_add(hn::MaskedLoad(mask, D(), rows), x);
    rest.add_products(mask, rows + step, step, x);
  }
};

template <int C>
struct Tile<0, C> {
  HWY_INLINE void zero() {}
  HWY_INLINE void load(const float*, std::size_t) {}
  HWY_INLINE void store(float*, std::size_t) const {}
  HWY_INLINE void add(const float*) {}
  HWY_INLINE void add_multiples(const float*, std::size_t, const TileRow<C>&) {}
  HWY_INLINE void add_products(const float*, std::size_t, const TileRow<C>&) {}
  HWY_INLINE void add_products(hn::Mask<D>, const float*, std::size_t, const TileRow<C>&) {}
};

}  // namespace catena::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

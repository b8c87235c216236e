#include "catena/nn/kernels/products.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/nn/kernels/products.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

#include "catena/nn/kernels/register_tile-inl.h"
#include "catena/nn/kernels/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

using kernels::Coefficients;

// A tile of R rows × C vectors of sums lives in registers: 20 of AVX-512's 32, 10 of the 16 of AVX2 and SSE, which
// leaves room for one column of x and one coefficient. Each x is then used R times per load, each coefficient C times.
// More sums (24 of 32 registers) were not faster: 50 rows, the paper's width, are ten times 5.
#if HWY_TARGET <= HWY_AVX3
constexpr int tile_vectors = 4;
constexpr int tile_sums = 20;
#else
constexpr int tile_vectors = 2;
constexpr int tile_sums = 10;
#endif
/// Rows of a tile of so many vectors; with one vector more rows would not be faster. Three vectors are the columns of a
/// turned matrix of 50 (g xᵀ below), where 8 rows were faster than 6.
constexpr int tile_rows(int vectors) {
  return vectors == 3 && tile_vectors == 4 ? 8 : tile_sums / std::max(2, vectors);
}

/// y = A x + b + z for some vectors of lanes, of which x, z and y point to the first; b and z may be null.
struct ColumnCall {
  Coefficients a;
  const float* x;
  std::size_t x_stride;
  const float* b;
  const float* z;
  std::size_t z_stride;
  float* y;
  std::size_t y_stride;
};
/// R rows from `row`, C vectors.
template <int R, int C>
HWY_NOINLINE void multiply_tile(const ColumnCall& call, std::size_t row) {
  const std::size_t n = hn::Lanes(D());
  Tile<R, C> sums;
  if (call.z != nullptr) {
    sums.load(call.z + row * call.z_stride, call.z_stride);
  } else {
    sums.zero();
  }
  if (call.b != nullptr) sums.add(call.b + row);
  const float* coefficients = call.a.data + row * call.a.row_step;
  const float* column = call.x;
  const std::size_t row_step = call.a.row_step, col_step = call.a.col_step, stride = call.x_stride;
  TileRow<C> x;
  for (std::size_t k = 0; k < call.a.cols / 2; ++k) {  // two at a time: the counting takes the same ports
    x.load(column, n);
    sums.add_multiples(coefficients, row_step, x);
    x.load(column + stride, n);
    sums.add_multiples(coefficients + col_step, row_step, x);
    coefficients += 2 * col_step;
    column += 2 * stride;
  }
  if (call.a.cols % 2 != 0) {
    x.load(column, n);
    sums.add_multiples(coefficients, row_step, x);
  }
  sums.store(call.y + row * call.y_stride, call.y_stride);
}

/// Calls body(integral constant of `count`) for 1 ≤ count ≤ Largest.
template <int Largest, class Body>
HWY_INLINE void with_constant(int count, Body body) {
  if constexpr (Largest > 1) {
    if (count < Largest) return with_constant<Largest - 1>(count, body);
  }
  body(std::integral_constant<int, Largest>());
}

/// Cuts `total` rows into pieces of at most `largest` and as equal as possible: seven of 7 or 8 rather than six of 8
/// and one of 2.
template <class Body>
HWY_INLINE void for_even_pieces(std::size_t total, std::size_t largest, Body body) {
  const std::size_t pieces = (total + largest - 1) / largest;
  std::size_t begin = 0;
  for (std::size_t p = 0; p < pieces; ++p) {
    const std::size_t end = total * (p + 1) / pieces;
    body(begin, end - begin);
    begin = end;
  }
}

/// All rows of A for C vectors of lanes.
template <int C>
HWY_INLINE void multiply_columns(const ColumnCall& call) {
  for_even_pieces(call.a.rows, tile_rows(C), [&](std::size_t row, std::size_t height) {
    with_constant<tile_rows(C)>(static_cast<int>(height),
                                [&](auto r) { multiply_tile<decltype(r)::value, C>(call, row); });
  });
}

void Product(const Coefficients& a, const ConstBlock& x, const float* b, const ConstBlock& z, const Block& y) {
  const std::size_t n = hn::Lanes(D());
  // Columns of lanes outside, rows inside: one column of x stays in the first cache for all rows.
  for_even_pieces(padded_lanes(x.lanes) / n, tile_vectors, [&](std::size_t vector, std::size_t width) {
    const std::size_t lane = vector * n;
    const ColumnCall call{a,        x.data + lane, x.stride, b, z.data == nullptr ? nullptr : z.data + lane,
                          z.stride, y.data + lane, y.stride};
    with_constant<tile_vectors>(static_cast<int>(width), [&](auto c) { multiply_columns<decltype(c)::value>(call); });
  });
}

/// w[r·step + c] (+)= Σ_l g_rl x_cl for R rows of g and C of x.
template <int R, int C>
HWY_NOINLINE void dots_tile(const ConstBlock& g, const ConstBlock& x, float* w, std::size_t step, bool accumulate) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  Tile<R, C> sums;
  sums.zero();
  TileRow<C> values;
  std::size_t lane = 0;
  for (; lane + n <= g.lanes; lane += n) {
    values.load(x.data + lane, x.stride);
    sums.add_products(g.data + lane, g.stride, values);
  }
  if (lane < g.lanes) {
    const auto counts = hn::FirstN(d, g.lanes - lane);
    values.load(counts, x.data + lane, x.stride);
    sums.add_products(counts, g.data + lane, g.stride, values);
  }
  constexpr std::size_t count = std::size_t{R} * C, padded = (count + 3) / 4 * 4;
  HWY_ALIGN float vectors[padded * 16];
  HWY_ALIGN float totals[padded];
  sums.store(vectors, C * n);
  for (std::size_t i = 0; i < count; i += 4) {
    const auto at = [&](std::size_t k) { return hn::Load(d, vectors + std::min(i + k, count - 1) * n); };
    hn::Store(four_sums(at(0), at(1), at(2), at(3)), hn::FixedTag<float, 4>(), totals + i);
  }
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t c = 0; c < C; ++c) {
      float& to = w[r * step + c];
      to = accumulate ? to + totals[r * C + c] : totals[r * C + c];
    }
  }
}

/// Columns [first, x.features) of w by dots along the lanes.
void outer_by_dots(const ConstBlock& g, const ConstBlock& x, std::size_t first, float* w, std::size_t step,
                   bool accumulate) {
  for_even_pieces(x.features - first, tile_vectors, [&](std::size_t column, std::size_t width) {
    const std::size_t k = first + column;
    with_constant<tile_vectors>(static_cast<int>(width), [&](auto c) {
      constexpr int C = decltype(c)::value;
      for_even_pieces(g.features, tile_rows(C), [&](std::size_t i, std::size_t height) {
        with_constant<tile_rows(C)>(static_cast<int>(height), [&](auto r) {
          dots_tile<decltype(r)::value, C>(g.slice_features(i, i + height), x.slice_features(k, k + width),
                                           w + i * step + k, step, accumulate);
        });
      });
    });
  });
}

#if HWY_TARGET <= HWY_AVX3

// The sums at the end of every dot cost as much as half of the dots over 128 lanes. With the features of a lane side by
// side there are none: w[i][k …] += g_il x_kl over l is a product like any other. Turning x around is a tenth of it.
constexpr std::size_t turned_lanes = 128;  // 24 KiB of x at a time: half of the first cache
constexpr std::size_t turned_vectors = 3;
constexpr std::size_t turned_least = 16;  // with fewer rows of g, turning x costs more than it saves

/// to[l·width + k] = from[k·stride + l] for 16 features k and 4 lanes l.
HWY_INLINE void turn_sixteen_by_four(const float* from, std::size_t stride, float* to, std::size_t width) {
  const D d;
  const hn::Repartition<double, D> d64;
  V rows[4];  // features r, r + 4, r + 8, r + 12 in the four quarters
  for (std::size_t r = 0; r < 4; ++r) {
    // Loads that broadcast a quarter and keep the others: shuffles of registers would all want the same port.
    const auto quarter = [&](std::size_t feature) { return _mm_loadu_ps(from + (r + feature) * stride); };
    __m512 row = _mm512_broadcast_f32x4(quarter(0));
    row = _mm512_mask_broadcast_f32x4(row, 0x00F0, quarter(4));
    row = _mm512_mask_broadcast_f32x4(row, 0x0F00, quarter(8));
    rows[r] = V{_mm512_mask_broadcast_f32x4(row, 0xF000, quarter(12))};
  }
  // 4 × 4 numbers are turned within every quarter.
  const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, rows[0], rows[1]));
  const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, rows[2], rows[3]));
  const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, rows[0], rows[1]));
  const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, rows[2], rows[3]));
  hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)), d, to);
  hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)), d, to + width);
  hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)), d, to + 2 * width);
  hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23)), d, to + 3 * width);
}

void OuterProduct(const ConstBlock& g, const ConstBlock& x, float* w, std::size_t step, bool accumulate) {
  if (g.features < turned_least) return outer_by_dots(g, x, 0, w, step, accumulate);
  HWY_ALIGN float turned[turned_lanes * turned_vectors * 16];
  const std::size_t vectors = x.features / 16;
  for (std::size_t first = 0; first < g.lanes; first += turned_lanes) {
    const std::size_t lanes = std::min(turned_lanes, g.lanes - first);
    for_even_pieces(vectors, turned_vectors, [&](std::size_t vector, std::size_t width) {
      for (std::size_t c = 0; c < width; ++c) {
        const float* from = x.data + (vector + c) * 16 * x.stride + first;
        for (std::size_t l = 0; l < lanes; l += 4)
          turn_sixteen_by_four(from + l, x.stride, turned + l * width * 16 + c * 16, width * 16);
      }
      float* to = w + vector * 16;
      const ColumnCall call{{g.data + first, g.features, lanes, g.stride, 1}, turned, width * 16, nullptr,
                            accumulate || first > 0 ? to : nullptr,           step,   to,         step};
      with_constant<turned_vectors>(static_cast<int>(width),
                                    [&](auto c) { multiply_columns<decltype(c)::value>(call); });
    });
  }
  outer_by_dots(g, x, vectors * 16, w, step, accumulate);
}

#else

void OuterProduct(const ConstBlock& g, const ConstBlock& x, float* w, std::size_t step, bool accumulate) {
  outer_by_dots(g, x, 0, w, step, accumulate);
}

#endif

}  // namespace catena::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::nn {
HWY_EXPORT(Product);
HWY_EXPORT(OuterProduct);

namespace kernels {

void product(const Coefficients& a, const ConstBlock& x, const float* b, const ConstBlock& z, const Block& y) {
  HWY_DYNAMIC_DISPATCH(Product)(a, x, b, z, y);
}
void outer_product(const ConstBlock& g, const ConstBlock& x, float* w, std::size_t step, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(OuterProduct)(g, x, w, step, accumulate);
}

}  // namespace kernels
}  // namespace catena::nn
#endif

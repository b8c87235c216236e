#include "catena/nn/products.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/nn/products.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace catena::nn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using kernels::Coefficients;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// A tile of `rows` × `vectors` sums lives in registers: 24 of AVX-512's 32, 10 of the 16 of AVX2 and SSE, which leaves
// room for one column of x and one coefficient. Each x is then used `rows` times per load, each coefficient `vectors`
// times.
#if HWY_TARGET <= HWY_AVX3
constexpr int tile_rows = 6;
constexpr int tile_vectors = 4;
#else
constexpr int tile_rows = 5;
constexpr int tile_vectors = 2;
#endif

template <int R, int C>
HWY_INLINE void tile(const Coefficients& a, std::size_t row, ConstBlock x, const float* b, ConstBlock z, Block y,
                     std::size_t lane) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  V sums[R][C];
  for (int r = 0; r < R; ++r) {
    const std::size_t i = row + static_cast<std::size_t>(r);
    for (int c = 0; c < C; ++c) {
      sums[r][c] =
          z.data == nullptr ? hn::Zero(d) : hn::Load(d, z.data + i * z.stride + lane + static_cast<std::size_t>(c) * n);
    }
    if (b == nullptr) continue;
    for (int c = 0; c < C; ++c) sums[r][c] = hn::Add(sums[r][c], hn::Set(d, b[i]));
  }
  const float* coefficient = a.data + row * a.row_step;
  const float* column = x.data + lane;
  for (std::size_t k = 0; k < a.cols; ++k) {
    V values[C];
    for (int c = 0; c < C; ++c) values[c] = hn::Load(d, column + static_cast<std::size_t>(c) * n);
    for (int r = 0; r < R; ++r) {
      const V factor = hn::Set(d, coefficient[static_cast<std::size_t>(r) * a.row_step]);
      for (int c = 0; c < C; ++c) sums[r][c] = hn::MulAdd(factor, values[c], sums[r][c]);
    }
    coefficient += a.col_step;
    column += x.stride;
  }
  for (int r = 0; r < R; ++r) {
    const std::size_t i = row + static_cast<std::size_t>(r);
    for (int c = 0; c < C; ++c)
      hn::Store(sums[r][c], d, y.data + i * y.stride + lane + static_cast<std::size_t>(c) * n);
  }
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

void Product(const Coefficients& a, ConstBlock x, const float* b, ConstBlock z, Block y) {
  const std::size_t n = hn::Lanes(D());
  const std::size_t vectors = padded_lanes(x.lanes) / n;
  // Columns of lanes outside, rows inside: one column of x stays in the first cache for all rows.
  for_even_pieces(vectors, tile_vectors, [&](std::size_t vector, std::size_t width) {
    for_even_pieces(a.rows, tile_rows, [&](std::size_t row, std::size_t height) {
      with_constant<tile_vectors>(static_cast<int>(width), [&](auto c) {
        with_constant<tile_rows>(static_cast<int>(height), [&](auto r) {
          tile<decltype(r)::value, decltype(c)::value>(a, row, x, b, z, y, vector * n);
        });
      });
    });
  });
}

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

#if HWY_TARGET <= HWY_AVX3
constexpr int outer_sums = 24;
#else
constexpr int outer_sums = 12;
#endif

/// w[i + r][k …] += Σ_l g x for R rows and `columns` ≤ C columns.
template <int R, int C>
HWY_INLINE void outer_tile(ConstBlock g, std::size_t i, ConstBlock x, std::size_t k, std::size_t columns, float* w) {
  const D d;
  const hn::FixedTag<float, 4> d4;
  const std::size_t n = hn::Lanes(d);
  const float* rows = g.data + i * g.stride;
  const float* cols[C];
  for (std::size_t c = 0; c < C; ++c) cols[c] = x.data + (k + std::min(c, columns - 1)) * x.stride;
  V sums[R][C];
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) sums[r][c] = hn::Zero(d);
  }
  const auto add = [&](std::size_t lane, auto load) {
    V values[C];
    for (int c = 0; c < C; ++c) values[c] = load(cols[c] + lane);
    for (int r = 0; r < R; ++r) {
      const V factor = load(rows + static_cast<std::size_t>(r) * g.stride + lane);
      for (int c = 0; c < C; ++c) sums[r][c] = hn::MulAdd(factor, values[c], sums[r][c]);
    }
  };
  std::size_t lane = 0;
  for (; lane + n <= g.lanes; lane += n) add(lane, [&](const float* p) { return hn::Load(d, p); });
  if (lane < g.lanes) {
    const auto counts = hn::FirstN(d, g.lanes - lane);
    add(lane, [&](const float* p) { return hn::MaskedLoad(counts, d, p); });
  }
  for (int r = 0; r < R; ++r) {
    float* out = w + (i + static_cast<std::size_t>(r)) * x.features + k;
    const auto four = four_sums(sums[r][0], sums[r][1 % C], sums[r][2 % C], sums[r][3 % C]);
    if (columns == 4) {
      hn::StoreU(hn::Add(hn::LoadU(d4, out), four), d4, out);
    } else {
      HWY_ALIGN float parts[4];
      hn::Store(four, d4, parts);
      for (std::size_t c = 0; c < columns; ++c) out[c] += parts[c];
    }
  }
}

/// Columns [first, x.features) of w by dots along the lanes.
void outer_by_dots(ConstBlock g, ConstBlock x, std::size_t first, float* w) {
  const auto run = [&](auto width, std::size_t k) {
    constexpr int C = decltype(width)::value;
    constexpr int rows = outer_sums / C;
    for_even_pieces(g.features, rows, [&](std::size_t i, std::size_t height) {
      with_constant<rows>(static_cast<int>(height), [&](auto r) {
        outer_tile<decltype(r)::value, C>(g, i, x, k, std::min<std::size_t>(C, x.features - k), w);
      });
    });
  };
  for (std::size_t k = first; k < x.features; k += 4) {
    if (x.features - k > 2) {
      run(std::integral_constant<int, 4>(), k);
    } else {
      run(std::integral_constant<int, 2>(), k);
    }
  }
}

#if HWY_TARGET <= HWY_AVX3

// The sums at the end of every dot cost as much as half of the dots over 128 lanes. With the features of a lane side by
// side there are none: w[i][k …] += g_il x_kl over l is a product like any other. Turning x around is a tenth of it.
constexpr int turned_rows = 8;  // × 3 vectors of columns: 24 sums
constexpr int turned_vectors = 3;
constexpr std::size_t turned_lanes = 128;  // 24 KiB of x at a time: half of the first cache
constexpr std::size_t turned_least = 16;   // with fewer rows of g, turning x costs more than it saves

/// to[l·width + k] = from[k·stride + l] for 16 features k and 4 lanes l.
HWY_INLINE void turn_sixteen_by_four(const float* from, std::size_t stride, float* to, std::size_t width) {
  const D d;
  const hn::Repartition<double, D> d64;
  const hn::Half<D> half;
  const hn::Half<hn::Half<D>> quarter;
  V rows[4];  // features r, r + 4, r + 8, r + 12 in the four quarters
  for (std::size_t r = 0; r < 4; ++r) {
    const auto quad = [&](std::size_t feature) { return hn::LoadU(quarter, from + (r + feature) * stride); };
    rows[r] = hn::Combine(d, hn::Combine(half, quad(12), quad(8)), hn::Combine(half, quad(4), quad(0)));
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

/// w[r·step + k] += Σ_l g_rl turned[l·16 C + k] for R rows and 16 C columns.
template <int R, int C>
HWY_INLINE void turned_tile(const float* g, std::size_t stride, const float* turned, std::size_t lanes, float* w,
                            std::size_t step) {
  const D d;
  V sums[R][C];
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) sums[r][c] = hn::LoadU(d, w + static_cast<std::size_t>(r) * step + c * 16);
  }
  for (std::size_t l = 0; l < lanes; ++l) {
    V values[C];
    for (int c = 0; c < C; ++c) values[c] = hn::Load(d, turned + l * C * 16 + c * 16);
    for (int r = 0; r < R; ++r) {
      const V factor = hn::Set(d, g[static_cast<std::size_t>(r) * stride + l]);
      for (int c = 0; c < C; ++c) sums[r][c] = hn::MulAdd(factor, values[c], sums[r][c]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) hn::StoreU(sums[r][c], d, w + static_cast<std::size_t>(r) * step + c * 16);
  }
}

void AddOuterProduct(ConstBlock g, ConstBlock x, float* w) {
  if (g.features < turned_least) return outer_by_dots(g, x, 0, w);
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
      for_even_pieces(g.features, turned_rows, [&](std::size_t i, std::size_t height) {
        with_constant<turned_vectors>(static_cast<int>(width), [&](auto c) {
          with_constant<turned_rows>(static_cast<int>(height), [&](auto r) {
            turned_tile<decltype(r)::value, decltype(c)::value>(g.data + i * g.stride + first, g.stride, turned, lanes,
                                                                w + i * x.features + vector * 16, x.features);
          });
        });
      });
    });
  }
  outer_by_dots(g, x, vectors * 16, w);
}

#else

void AddOuterProduct(ConstBlock g, ConstBlock x, float* w) { outer_by_dots(g, x, 0, w); }

#endif

}  // namespace catena::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace catena::nn {
HWY_EXPORT(Product);
HWY_EXPORT(AddOuterProduct);

namespace kernels {

void product(const Coefficients& a, ConstBlock x, const float* b, ConstBlock z, Block y) {
  HWY_DYNAMIC_DISPATCH(Product)(a, x, b, z, y);
}
void add_outer_product(ConstBlock g, ConstBlock x, float* w) { HWY_DYNAMIC_DISPATCH(AddOuterProduct)(g, x, w); }

}  // namespace kernels
}  // namespace catena::nn
#endif

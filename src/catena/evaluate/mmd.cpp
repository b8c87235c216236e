#include "catena/evaluate/mmd.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "catena/evaluate/metric.h"
#include "catena/evaluate/samples.h"

namespace catena::evaluate {

namespace {

constexpr std::size_t block_rows = 32;

/// Both sets, one after the other: pair (i, j) with j < i.
struct Pooled {
  ConstMatrixView a, b;
  std::size_t size() const { return a.rows + b.rows; }
  std::size_t pairs() const { return size() * (size() - 1) / 2; }
  const double* draw(std::size_t i) const { return i < a.rows ? a.row(i).data() : b.row(i - a.rows).data(); }
  double squared_distance(std::size_t i, std::size_t j) const {
    const double* x = draw(i);
    const double* y = draw(j);
    double sum = 0;
    for (std::size_t c = 0; c < a.cols; ++c) sum += (x[c] - y[c]) * (x[c] - y[c]);
    return sum;
  }
};

/// The number of given rank among the squared distances of all pairs, by four passes of 16 bits each from the highest
/// down: the bits of doubles that are not negative sort like the doubles, and memory stays small for any number of
/// draws.
double squared_distance_of_rank(const Pooled& pooled, std::size_t rank, const Parallel& parallel) {
  constexpr std::size_t buckets = std::size_t{1} << 16;
  const std::size_t blocks = std::min<std::size_t>(64, (pooled.size() + block_rows - 1) / block_rows);
  std::uint64_t prefix = 0;
  for (int shift = 48; shift >= 0; shift -= 16) {
    std::vector<std::vector<std::uint64_t>> counts(blocks);
    parallel.for_each(blocks, [&](std::size_t block) {
      counts[block].assign(buckets, 0);
      for (std::size_t i = block; i < pooled.size(); i += blocks) {
        for (std::size_t j = 0; j < i; ++j) {
          const auto bits = std::bit_cast<std::uint64_t>(pooled.squared_distance(i, j));
          const bool candidate = shift == 48 || bits >> (shift + 16) == prefix >> (shift + 16);
          if (candidate) ++counts[block][(bits >> shift) % buckets];
        }
      }
    });
    std::uint64_t bucket = 0;
    while (true) {
      std::uint64_t in_bucket = 0;
      for (const auto& of_block : counts) in_bucket += of_block[bucket];
      if (rank < in_bucket) break;
      rank -= in_bucket;
      ++bucket;
    }
    prefix |= bucket << shift;
  }
  return std::bit_cast<double>(prefix);
}

double median_of(const Pooled& pooled, const Parallel& parallel) {
  return std::sqrt(squared_distance_of_rank(pooled, (pooled.pairs() - 1) / 2, parallel));
}

}  // namespace

double median_distance(ConstMatrixView a, ConstMatrixView b, const Parallel& parallel) {
  check_samples("median_distance", a, b, 2);
  return median_of({a, b}, parallel);
}

double mmd_squared(ConstMatrixView a, ConstMatrixView b, const Parallel& parallel) {
  check_samples("mmd", a, b, 2);
  const Pooled pooled{a, b};
  const double s = std::max(median_of(pooled, parallel), 1e-8);  // sbi's floor, for sets of one repeated draw
  const double factor = -0.5 / (s * s);
  struct Sums {
    double aa = 0, ab = 0, bb = 0;
  };
  std::vector<Sums> sums((pooled.size() + block_rows - 1) / block_rows);
  parallel.for_blocks(pooled.size(), block_rows, [&](std::size_t begin, std::size_t end, std::size_t block) {
    Sums& sum = sums[block];
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double k = std::exp(factor * pooled.squared_distance(i, j));
        (i < a.rows ? sum.aa : j < a.rows ? sum.ab : sum.bb) += k;
      }
    }
  });
  Sums total;
  for (const Sums& sum : sums) {
    total.aa += sum.aa;
    total.ab += sum.ab;
    total.bb += sum.bb;
  }
  const auto n = static_cast<double>(a.rows);
  const auto m = static_cast<double>(b.rows);
  return 2 * (total.aa / (n * (n - 1)) + total.bb / (m * (m - 1)) - total.ab / (n * m));
}

Metric mmd_metric() {
  return {"mmd", "squared maximum mean discrepancy, unbiased, Gaussian kernel, median distance",
          [](ConstMatrixView a, ConstMatrixView b, const Streams&, const Parallel& parallel) -> nlohmann::json {
            return mmd_squared(a, b, parallel);
          }};
}

}  // namespace catena::evaluate

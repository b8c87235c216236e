#include "catena/compose/scores/local_scores.h"

#include <algorithm>

#include "catena/core/check.h"

namespace catena::compose {
namespace {

/// The sums of a source without a fast path.
class LoopedSums final : public SummedScores {
 public:
  LoopedSums(const LocalScores& source, const LocalPrecisions& precisions) : source_(source), precisions_(precisions) {}

  void operator()(ConstMatrixView theta_a, double a, MatrixView sum, MatrixView weighted) const override {
    const std::size_t n = theta_a.rows, d = theta_a.cols, T = source_.transitions();
    const std::size_t tile = transitions_per_tile(n, d);
    Matrix local(std::min(tile, T) * n, d);
    for (std::size_t p = 0; p < n; ++p) std::ranges::fill(sum.row(p), 0.0);
    for (std::size_t p = 0; p < weighted.rows; ++p) std::ranges::fill(weighted.row(p), 0.0);
    for (std::size_t begin = 0; begin < T; begin += tile) {
      const std::size_t end = std::min(begin + tile, T);
      source_.scores(theta_a, a, begin, end, local.view().slice_rows(0, (end - begin) * n));
      for (std::size_t t = begin; t < end; ++t) {
        for (std::size_t p = 0; p < n; ++p) {
          const double* s = local.row((t - begin) * n + p).data();
          for (std::size_t i = 0; i < d; ++i) sum(p, i) += s[i];
          if (weighted.rows > 0) add_product(t, s, weighted.row(p));
        }
      }
    }
  }

 private:
  /// out += C_t s
  void add_product(std::size_t t, const double* s, std::span<double> out) const {
    const std::size_t d = out.size();
    const std::span<const double> c = precisions_.row(t);
    if (c.size() == d) {
      for (std::size_t i = 0; i < d; ++i) out[i] += c[i] * s[i];
    } else {
      for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t j = 0; j < d; ++j) out[i] += c[i * d + j] * s[j];
      }
    }
  }

  const LocalScores& source_;
  const LocalPrecisions& precisions_;
};

}  // namespace

void LocalScores::scores_and_jacobians(ConstMatrixView, double, std::size_t, std::size_t, MatrixView,
                                       MatrixView) const {
  CATENA_ASSERT(has_jacobians());
}

std::unique_ptr<SummedScores> LocalScores::summed(const LocalPrecisions&) const { return nullptr; }

std::unique_ptr<SummedScores> sums_of(const LocalScores& source, const LocalPrecisions& precisions) {
  if (auto sums = source.summed(precisions)) return sums;
  return std::make_unique<LoopedSums>(source, precisions);
}

std::size_t transitions_per_tile(std::size_t particles, std::size_t columns) {
  constexpr std::size_t doubles = 16384;  // 128 KiB, half of a usual second-level cache
  return std::max<std::size_t>(1, doubles / std::max<std::size_t>(1, particles * columns));
}

}  // namespace catena::compose

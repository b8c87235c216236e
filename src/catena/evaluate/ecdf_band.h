/// Simultaneous confidence bands for the empirical distribution of ranks that should be uniform (Säilynoja, Bürkner and
/// Vehtari 2022, docs/refs.bib: sailynoja2022), by their recursion, exact for discrete ranks. For calibration.h.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace catena::evaluate {

/// How many of `series` ranks, each uniform on 0 … draws, lie below each of K cuts, cut_i = round(i (draws+1) / (K+1)):
/// binomial at every cut, and a Markov chain along the cuts. K = min(series, draws, 200), because more cuts change the
/// bands hardly and cost time.
class RankCounts {
 public:
  RankCounts(std::size_t series, std::size_t draws);

  std::size_t series() const { return series_; }
  /// Ranks are counted that are smaller than the cut.
  std::span<const std::size_t> cuts() const { return cuts_; }
  /// P(one rank < cut_i).
  double probability(std::size_t i) const { return static_cast<double>(cuts_[i]) / static_cast<double>(draws_ + 1); }

  /// A range of counts at every cut.
  struct Region {
    std::vector<std::size_t> lowest, highest;  ///< inclusive; lowest > highest where no count is left
  };
  /// The counts whose two-sided binomial p-value, 2 min(P(X ≤ x), P(X ≥ x)), exceeds gamma at every cut on its own.
  Region region(double gamma) const;
  /// P(the counts lie in the region at all cuts at once).
  double coverage(const Region& region) const;
  /// The largest gamma up to 1 − level (to 1e-6 relative) whose region covers with probability `level` or more.
  double gamma_of_level(double level) const;
  /// The smallest two-sided binomial p-value over the cuts, of counts that were observed.
  double smallest_p_value(std::span<const std::size_t> counts) const;

 private:
  std::size_t series_;
  std::size_t draws_;
  std::vector<std::size_t> cuts_;
  std::vector<std::vector<double>> lower_, upper_;  // [cut][x]: P(X ≤ x), P(X ≥ x)
  std::vector<double> log_factorial_;
};

}  // namespace catena::evaluate

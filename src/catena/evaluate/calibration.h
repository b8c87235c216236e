/// Is a posterior calibrated? Over many series with known parameters θ, every check here boils down to a rank per
/// series that is uniform on 0 … L if the L draws and θ come from the same distribution:
///   sbc_ranks       θ's rank among the draws, per parameter (Talts et al. 2018, docs/refs.bib: talts2018)
///   density_ranks   how many draws have a higher density than θ: highest-density regions
///   tarp_ranks      how many draws are nearer to a random point than θ (Lemos et al. 2023, docs/refs.bib: lemos2023)
/// and then to one test of uniformity and one curve of expected coverage.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/core/random.h"

namespace catena::evaluate {

/// One rank per series, each 0 … draws. Ties are broken at random.
struct Ranks {
  std::size_t draws = 0;
  std::vector<std::size_t> values;
};

/// `draws` holds the draws of series 0, then those of series 1, …, one draw a row, the same number for each; `truth`
/// has one row per series. One Ranks per parameter: the number of draws below the truth.
std::vector<Ranks> sbc_ranks(ConstMatrixView draws, ConstMatrixView truth, const Streams& streams,
                             const Parallel& parallel);

/// log_density_of_draws is [series × draws], the posterior's log density at each draw.
Ranks density_ranks(ConstMatrixView log_density_of_draws, std::span<const double> log_density_of_truth,
                    const Streams& streams);

/// A point per series, uniform in the box of the truths; parameters are scaled by that box before distances are taken.
Ranks tarp_ranks(ConstMatrixView draws, ConstMatrixView truth, const Streams& streams, const Parallel& parallel);

/// Are the ranks uniform?
struct Uniformity {
  // χ² over bins of equal (or, where L + 1 does not divide, nearly equal) probability.
  std::size_t bins = 0;
  double chi_squared = 0;
  double chi_squared_p_value = 1;
  // The empirical distribution minus the uniform one at each point, and the band that all of it stays inside with
  // probability `level`, if the ranks are uniform.
  double level = 0;
  std::vector<double> point, difference, lower, upper;
  bool inside = true;
  double band_p_value = 1;  ///< of the largest excursion, simultaneous over all points; exact
};

/// At least 5 series. χ² uses min(20, series/5, L + 1) bins, so that each expects five ranks or more.
Uniformity uniformity(const Ranks& ranks, double level = 0.95);

/// Which region of credibility c contains a truth of rank r.
enum class Interval {
  central,    ///< the middle c of the draws: for sbc_ranks
  from_below  ///< the lowest c of the ranks: for density_ranks and tarp_ranks
};

struct Coverage {
  std::vector<double> credibility;  ///< c
  std::vector<double> expected;     ///< share of series whose truth the region of credibility c contains
  /// Mean of expected − c over the curve: negative if the posterior is too narrow, positive if too wide.
  double mean_excess = 0;
};

/// A rank r stands for a number uniform in [r, r+1)/(L+1), so that a calibrated posterior is on the diagonal at every
/// c.
Coverage expected_coverage(const Ranks& ranks, Interval interval, std::span<const double> credibility,
                           const Streams& streams);

/// 0.05, 0.10, …, 0.95.
std::vector<double> usual_credibilities();

}  // namespace catena::evaluate

/// Are these residuals those of a model that fits? Two sorts, both of records in the order of their series:
///
/// - *ranks* u_ti in (0, 1): where x^(t+1) lies in what the learned density says of it, coordinate by coordinate
///   (residuals.h). If the model is right and θ is a draw from the posterior, they are uniform and independent over t.
///   With r = Φ⁻¹(u): mean of r, sum of r², Kolmogorov's distance of u, Σ r_t r_(t+1), Σ |r|_t |r|_(t+1) (centred),
///   mean of the first half less that of the second.
/// - *scores* g_t in R^d, ŝ(x^t, x^(t+1); z), and curvatures h_t = −∂g_t/∂z, diagonal: if the model is right and z is a
///   draw, g_ti and g_ti² − h_ti are martingale differences. Sums over all, over halves and of products of neighbours
///   are compared with their own empirical variance, coordinate by coordinate.
///
/// Each statistic has a tolerance beside its noise: a network is never exact, and a long series finds every flaw of it
/// long before the posterior suffers. So the p-values are bounds, and the smallest counts with the number of statistics
/// (Bonferroni).
#pragma once

#include <string>
#include <vector>

#include "catena/core/array.h"

namespace catena::sample {

struct ResidualTest {
  double p = 1;      // of the smallest, times the number of statistics; at most 1
  std::string what;  // which statistic that is, in words; empty: there were too few records
};

/// Fewer records than these are not tested: normal laws of sums are not there yet.
inline constexpr std::size_t fewest_residuals = 20;

/// u: one record a row. `follows[t]`: record t comes right after record t − 1 in one series.
ResidualTest test_ranks(const Matrix& u, const std::vector<bool>& follows, const std::vector<std::string>& names);
ResidualTest test_scores(const Matrix& g, const Matrix& h, const std::vector<bool>& follows,
                         const std::vector<std::string>& names);

}  // namespace catena::sample

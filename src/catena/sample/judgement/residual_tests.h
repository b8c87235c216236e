/// Are these residuals those of a model that fits? Three sorts, of records in the order of their series:
///
/// - *ranks* u_ti in (0, 1): where x^(t+1) lies in what the learned density says of it, coordinate by coordinate
///   (residuals.h). If the model is right and θ is a draw from the posterior, they are uniform and independent over t.
///   With r = Φ⁻¹(u): mean of r, sum of r², Kolmogorov's distance of u, Σ r_t r_(t+1), Σ |r|_t |r|_(t+1) (centred),
///   mean of the first half less that of the second.
/// - *scores* g_t in R^d, ŝ(x^t, x^(t+1); z), and curvatures h_t = −∂g_t/∂z, diagonal: if the model is right and z is a
///   draw, g_ti and g_ti² − h_ti are martingale differences. Sums over all, over halves and of products of neighbours
///   are compared with their own empirical variance, coordinate by coordinate.
/// - *own parameters* w_tj, how much likelier record t is with parameters of its own than with z (residuals.h). Given
///   the true z and the past each w_tj has mean one, whatever the other parameters are, so that E_j = Π_t w_tj is a
///   non-negative martingale and, by Ville's inequality (ville1939), P(mean_j E_j ≥ 1/p) ≤ p: an e-value (vovk2021),
///   for any number of records and without a normal law. It sees series that contradict themselves, such as errors of
///   measurement that a ratio would take for parameters that change from step to step.
///
/// Each statistic has a tolerance beside its noise. By the learned density: a network is never exact, and a long series
/// finds every flaw of it long before the posterior suffers. By the simulator, which is exact: only the posterior may
/// be off, and a shift of δ standard deviations in each of d directions moves no sum of residuals by more than δ√d of
/// its own standard errors, for ∂E[S]/∂z = Cov[S, score] ≤ sd S · sd score (Cauchy and Schwarz). δ = ½ is tolerated, as
/// it is of long series (judge.h). So the p-values are bounds, and the smallest counts with the number of statistics
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

/// What ranks are tested with: who made them, in a sentence, and what each statistic may be off, in its own units or in
/// standard errors.
struct RankTolerance {
  const char* who;
  double mean = 0, scale = 0, shape = 0, halves = 0, product = 0;
  double errors = 0;  // besides, of every statistic
};
/// Of a learned density, measured as what networks of 10,000 transitions leave on series of 1,000 that their task made.
inline constexpr RankTolerance by_network{
    .who = "model", .mean = 0.2, .scale = 0.2, .shape = 0.07, .halves = 0.3, .product = 0.1};
/// Of a simulator, at draws of d parameters.
RankTolerance by_simulator(std::size_t parameters);

/// u: one record a row. `follows[t]`: record t comes right after record t − 1 in one series.
ResidualTest test_ranks(const Matrix& u, const std::vector<bool>& follows, const std::vector<std::string>& names,
                        const RankTolerance& tolerance = by_network);
ResidualTest test_scores(const Matrix& g, const Matrix& h, const std::vector<bool>& follows,
                         const std::vector<std::string>& names);

/// log w: one record a row, one scale a column.
ResidualTest test_own_parameters(const Matrix& log_w);

/// Do the records inside the training range accept the z that all records together gave? A draw from a right posterior
/// is exchangeable with the truth, at which G = Σ g_t over any of the records has mean zero and the variance Σ E h_t:
/// G²/max(Σ h_t, Σ g_t²) is at most χ²₁, coordinate by coordinate. `what` is the coordinate's name.
ResidualTest test_inside(const Matrix& g, const Matrix& h, const std::vector<bool>& outside,
                         const std::vector<std::string>& names);

}  // namespace catena::sample

/// Residuals of a series under what was learned, at one z: for the tests of residual_tests.h.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "catena/compose/observed_series.h"
#include "catena/core/parallel.h"
#include "catena/core/random.h"

namespace catena::sample {

/// Records to look at: all of a short series, stretches spread over a long one.
struct Looked {
  std::vector<std::size_t> records;  // ascending
  std::vector<bool> follows;         // whether it comes right after the one before it in the list
};
Looked looked_at(const compose::ObservedSeries& observed, std::size_t most);

/// u_ti: where coordinate i of record t lies among `simulated` draws of the learned density, (number below + a uniform
/// number for its own place)/(simulated + 1): uniform and independent if density and z are right, point masses and
/// whole numbers included. No columns for methods without a density (fnre, fnse). At most 16 coordinates, evenly
/// chosen.
Matrix ranks_by_density(const model::TrainedModel& model, const compose::ObservedSeries& observed,
                        std::span<const std::size_t> records, std::span<const double> z, const Streams& streams,
                        const Parallel& parallel);
/// Which coordinates these are, of so many, and their names.
std::vector<std::size_t> rank_coordinates(std::size_t all);
std::vector<std::string> rank_names(const model::TrainedModel& model);

/// g_t = ŝ(c_t; z), of fnse at η = `noise`, and h_ti = −∂g_ti/∂z_i by central differences.
struct ScoreResiduals {
  Matrix g, h;
};
ScoreResiduals score_residuals(const model::TrainedModel& model, const compose::ObservedSeries& observed,
                               std::span<const std::size_t> records, std::span<const double> z, double noise,
                               const Parallel& parallel);

/// log w_tj: how much likelier a transition is if it has parameters of its own, somewhere around z, than with z:
///
///   w_tj = (1/K) Σ_k p(x^(t+1) | x^t, z + s_j ε_k)/p(x^(t+1) | x^t, z),   ε_k normal, in opposite pairs,
///
/// with scales s_j from the prior's deviation down to a hundredth of it, a column each. Methods without a density or
/// ratio (fnse) have the integral of the score from z to z + s_j ε_k for the logarithm of the quotient.
Matrix own_parameters(const model::TrainedModel& model, const compose::ObservedSeries& observed,
                      std::span<const std::size_t> records, std::span<const double> z, const Streams& streams,
                      const Parallel& parallel);

}  // namespace catena::sample

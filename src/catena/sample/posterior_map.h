/// The mode of a posterior in θ-space, for posterior_map() of posterior.h and the methods that find it their own way.
///
///   log p(θ | x) = log p(z | x) + log weight(z) − log |dθ/dz| (z)
///
/// is climbed over the z of the networks (maximise.h), where no step can leave the prior's support. The weight is that
/// of the true prior against the one that the model was trained with (prior/around.h): 1 unless it was narrowed.
#pragma once

#include "catena/sample/posterior.h"

namespace catena::sample {

/// From a target with gradient: a population carried from the prior to the posterior, and the best of its points.
MapEstimate map_of_target(const Target& target, const prior::TruePrior& prior, const Streams& streams,
                          Progress& progress);

/// The same from draws of the posterior, or points like them, one a row.
MapEstimate map_from_points(const Target& target, ConstMatrixView points, const prior::TruePrior& prior);

/// log p(θ) + the target's log likelihood, a row of θ each, as posterior_log_prob() has it. `target` is log N(z; 0, I)
/// plus a log likelihood over the networks' z.
std::vector<double> log_prob_of_target(const Target& target, const prior::TruePrior& prior, ConstMatrixView theta);

/// From a score, where there is no density: a root of it at the last level of noise, climbed to from draws. The density
/// of the draws themselves, by the distance of their nearest ones, says where to begin and which root is best.
MapEstimate map_of_score(const compose::SeriesScore& score, const SampleSettings& settings,
                         const prior::TruePrior& prior, const Streams& streams, const Parallel& parallel,
                         Progress& progress);

}  // namespace catena::sample

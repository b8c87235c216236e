/// Where chains start for a series whose posterior may be thin and bent, as linear_sde's two rings are: a population is
/// carried through the posteriors of more and more transitions,
///
///   prior → p(z | n transitions) → p(z | 4n) → p(z | 16n) → … → p(z | all T),
///
/// each leg from a to b by tempering a^(1−β) b^β (tempered_smc.h). At every β a mixture of Gaussians is fitted to the
/// population, and the points move by the proposals of `cloud` (kernels/cloud_proposals.h): a random walk with one
/// covariance for all would stand still on a ring. Most of the way is made on few transitions, which cost little.
#pragma once

#include <cstdint>

#include "catena/sample/mcmc/start/tempered_smc.h"

namespace catena::sample {

struct StagedStart {
  Start start;                            // without temperatures between 0 and 1
  std::size_t temperatures = 0;           // of all legs
  std::uint64_t thinned_evaluations = 0;  // of densities given some of the transitions
};

/// `target` must have thinned() posteriors, or fewer than 4 · `fewest` terms. `fewest` transitions are the first leg.
StagedStart staged_start(const Target& target, std::size_t fewest, std::size_t population, int moves,
                         const Streams& streams, Progress& progress);

}  // namespace catena::sample

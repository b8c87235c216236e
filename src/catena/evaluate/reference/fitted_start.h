/// Where the chains of a reference start if its transitions are normal around what a simulator computes
/// (tasks/likelihood.h, residuals). Such a posterior may be a thousand times narrower than the prior and cost a run of
/// the simulator for each transition, so that tempering from the prior would take days. Instead:
///
///   the best of many prior draws, judged by a few transitions → least squares on these → least squares on all
///   → a population from the Gaussian that fits there, reweighted and resampled (sample/mcmc/start/laplace.h)
///
/// which is only a start: the chains that follow are exact and have to agree.
#pragma once

#include <optional>

#include "catena/evaluate/reference/start.h"

namespace catena::evaluate {

/// None if the likelihood has no residuals, if no fit converged, or if a Gaussian is not what is there: then somebody
/// has to temper.
std::optional<StartingPopulation> fit_population(const ReferenceTarget& target, std::size_t population,
                                                 const Streams& streams, const Parallel& parallel, Progress& progress);

}  // namespace catena::evaluate

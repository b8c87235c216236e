/// Where chains start for a long series, at the cost of few densities of all of it: the posterior of some of its
/// transitions is found by tempering (start.h), each mode of that is climbed to a mode of the whole (maximise.h), and a
/// population is drawn from the Gaussians that fit there, reweighted and resampled (Laplace's approximation as an
/// importance proposal).
#pragma once

#include "catena/sample/mcmc/start/tempered_smc.h"

namespace catena::sample {

/// `thinned` is the posterior given some of the transitions of `target`, which has a gradient. The outcome is ok if the
/// population can be trusted; the start then has no temperatures between 0 and 1. Otherwise (no mode was found, or a
/// Gaussian does not fit there) it is not_mixed and there are no points.
Start long_start(const Target& target, const Target& thinned, std::size_t population, int moves, const Streams& streams,
                 Progress& progress);

}  // namespace catena::sample

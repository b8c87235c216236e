/// The kept draws of Markov chains, parameter by parameter: their health, and a thinned set of them.
#pragma once

#include <cstddef>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/sample/mcmc/chain_health.h"

namespace catena::sample {

/// Parameter i is traces[i], chains × draws.
using Traces = std::vector<Matrix>;

std::vector<ChainHealth> health_of(const Traces& traces, const Parallel& parallel);

/// n draws, dealt to the chains in turn, equally spaced within each; one draw a row.
Matrix thin(const Traces& traces, std::size_t n);

}  // namespace catena::sample

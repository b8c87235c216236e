/// Where the chains of a reference start: a population of states (θ, u) carried from the prior to the posterior by
/// tempered sequential Monte Carlo (sample/mcmc/start/tempered_smc.h).
#pragma once

#include <vector>

#include "catena/core/outcome.h"
#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/random.h"
#include "catena/evaluate/reference/chain.h"

namespace catena::evaluate {

struct StartingPopulation {
  std::vector<ReferenceState> states;
  Outcome outcome = Outcome::ok;  // diverged: no point of the prior has a finite likelihood; not_mixed: few points move
  MoveInfo info;
  int temperatures = 0;
};

StartingPopulation temper_population(const ReferenceTarget& target, std::size_t population, int moves,
                                     const Streams& streams, const Parallel& parallel, Progress& progress);

/// The free parameters of all states, one row each.
Matrix cloud_of(const ReferenceTarget& target, const std::vector<ReferenceState>& states);

}  // namespace catena::evaluate

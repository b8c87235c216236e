/// Where the chains of a reference start: a population of states (θ, u) carried from the prior to the posterior by
/// tempered sequential Monte Carlo (sample/mcmc/start/tempered_smc.h).
#pragma once

#include <vector>

#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/random.h"
#include "catena/evaluate/reference/chain.h"
#include "catena/sample/mcmc/start/tempered_smc.h"

namespace catena::evaluate {

struct StartingPopulation {
  std::vector<ReferenceState> states;
  sample::Start start;  // their θ; diverged: no point of the prior has a finite likelihood; not_mixed: few points move
  MoveInfo info;
};

StartingPopulation temper_population(const ReferenceTarget& target, std::size_t population, int moves,
                                     const Streams& streams, const Parallel& parallel, Progress& progress);

}  // namespace catena::evaluate

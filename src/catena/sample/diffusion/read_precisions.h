/// Precisions C_t of the local posteriors, read off the local scores themselves: what the rule gauss weights scores
/// with is then as wide as the scores say, whatever else the model has learned. Where the two contradict each other a
/// composed score may be steeper than its precision says, and a sampler's steps run away (docs/theory/gauss.md).
#pragma once

#include "catena/compose/scores/local_scores.h"
#include "catena/core/parallel.h"
#include "catena/diffusion/schedule.h"

namespace catena::sample {

/// Full matrices, one transition a row. `source` must have Jacobians.
compose::LocalPrecisions read_precisions(const compose::LocalScores& source, const diffusion::Schedule& schedule,
                                         const Parallel& parallel);

}  // namespace catena::sample

/// Draws from the posteriors of the method nle_summary (docs/theory/npe.md, eq. 9): Markov chains on the prior times
/// the likelihood of a series' summaries.
#pragma once

#include "catena/sample/posterior.h"

namespace catena::sample {

PosteriorSampler nle_summary_posterior_sampler();

}  // namespace catena::sample

/// Draws from density models: the posterior whose likelihood is Π_t q(x^(t+1) | x^t, z), by Markov chains.
#pragma once

#include "catena/sample/posterior.h"

namespace catena::sample {

PosteriorSampler fnle_posterior_sampler();

}  // namespace catena::sample

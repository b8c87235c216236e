/// Draws from ratio models: the posterior ∝ prior · exp Σ_t r(z, c_t), by Markov chains.
#pragma once

#include "catena/sample/posterior.h"

namespace catena::sample {

PosteriorSampler fnre_posterior_sampler();

}  // namespace catena::sample

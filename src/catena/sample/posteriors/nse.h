/// Draws from scores that were learned from whole series (model/posterior/series_score_model.h): the series is embedded
/// once, and a diffusion sampler follows the score.
#pragma once

#include "catena/sample/posterior.h"

namespace catena::sample {

PosteriorSampler nse_posterior_sampler();

}  // namespace catena::sample

/// Draws from posteriors that were learned from whole series (model/posterior/): the series is embedded once, and the
/// flow gives draws and densities, without Markov chains.
#pragma once

#include "catena/sample/posterior.h"

namespace catena::sample {

PosteriorSampler npe_posterior_sampler();
PosteriorSampler npe_windows_posterior_sampler();
PosteriorSampler npe_summary_posterior_sampler();

}  // namespace catena::sample

/// Posteriors that follow a stream: a file keeps what a separable model needs of the series so far
/// (compose/series_state.h), each call adds what is new and draws from the posterior of all of it.
#pragma once

#include "catena/sample/posterior.h"

namespace catena::sample {

/// `request.state` is the file, which need not exist yet; `request.series` goes on where it stopped.
PosteriorDraws draw_stream(const PosteriorRequest& request, const PosteriorSampler& sampler, const Streams& streams,
                           const Parallel& parallel, Progress& progress);

}  // namespace catena::sample

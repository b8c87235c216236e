#include "catena/sample/fnle_posterior.h"

#include "catena/compose/series_likelihood.h"
#include "catena/sample/density_posterior.h"

namespace catena::sample {
namespace {

PosteriorDraws draw(const PosteriorRequest& request, const compose::ObservedSeries& observed, const Streams& streams,
                    const Parallel& parallel, Progress& progress) {
  const train::DensityModel model(request.model);
  return draw_by_chains(compose::SeriesLikelihood(model, observed, parallel), request, streams, parallel, progress);
}

}  // namespace

PosteriorSampler fnle_posterior_sampler() { return {"fnle", describe_fields<McmcSettings>(), draw}; }

}  // namespace catena::sample

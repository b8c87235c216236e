#include "catena/sample/fnre_posterior.h"

#include "catena/compose/series_ratio.h"
#include "catena/sample/density_posterior.h"

namespace catena::sample {
namespace {

PosteriorDraws draw(const PosteriorRequest& request, const compose::ObservedSeries& observed, const Streams& streams,
                    const Parallel& parallel, Progress& progress) {
  const train::RatioModel model(request.model);
  return draw_by_chains(*compose::series_ratio(model, observed, parallel), request, streams, parallel, progress);
}

}  // namespace

PosteriorSampler fnre_posterior_sampler() { return {"fnre", describe_fields<McmcSettings>(), draw}; }

}  // namespace catena::sample

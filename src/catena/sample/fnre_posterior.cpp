#include "catena/sample/fnre_posterior.h"

#include "catena/compose/held_density.h"
#include "catena/compose/joined_density.h"
#include "catena/compose/series_ratio.h"
#include "catena/sample/density_posterior.h"

namespace catena::sample {
namespace {

std::unique_ptr<Target> target(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                               const Parallel& parallel) {
  auto density = compose::density_of_all(request.model, request.companions, observed,
                                         [&](const train::TrainedModel& model, const compose::ObservedSeries& records) {
                                           return compose::series_ratio(train::RatioModel(model), records, parallel);
                                         });
  return std::make_unique<DensityTarget>(compose::held_density(std::move(density)));
}

PosteriorDraws draw(const PosteriorRequest& request, const compose::ObservedSeries& observed, const Streams& streams,
                    const Parallel& parallel, Progress& progress) {
  return draw_by_chains(*target(request, observed, parallel), request, streams, parallel, progress);
}

}  // namespace

PosteriorSampler fnre_posterior_sampler() {
  return {.name = "fnre", .settings = describe_fields<McmcSettings>(), .draw = draw, .joins = true, .target = target};
}

}  // namespace catena::sample

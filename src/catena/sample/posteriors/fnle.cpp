#include "catena/sample/posteriors/fnle.h"

#include "catena/compose/density/joined_density.h"
#include "catena/compose/density/series_likelihood.h"
#include "catena/sample/posteriors/density.h"

namespace catena::sample {
namespace {

std::unique_ptr<Target> fnle_target(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                                    const Parallel& parallel) {
  const auto likelihood = [&model = request.model, companions = request.companions,
                           parallel](const compose::ObservedSeries& series) {
    return compose::density_of_all(model, companions, series,
                                   [&](const model::TrainedModel& part, const compose::ObservedSeries& records) {
                                     return compose::series_likelihood(model::DensityModel(part), records, parallel);
                                   });
  };
  return std::make_unique<DensityTarget>(observed, likelihood);
}

PosteriorDraws draw_fnle(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                         const Streams& streams, const Parallel& parallel, Progress& progress) {
  return draw_by_chains(*fnle_target(request, observed, parallel), request, streams, parallel, progress);
}

PosteriorDraws draw_fnle_sums(const PosteriorRequest& request, const compose::SeriesState& state,
                              const Streams& streams, const Parallel& parallel, Progress& progress) {
  const DensityTarget target(compose::likelihood_of_sums(model::DensityModel(request.model), state.sums, parallel));
  return draw_by_chains(target, request, streams, parallel, progress);
}

}  // namespace

PosteriorSampler fnle_posterior_sampler() {
  return {.name = "fnle",
          .settings = mcmc_fields(),
          .draw = draw_fnle,
          .draw_sums = draw_fnle_sums,
          .joins = true,
          .target = fnle_target};
}

}  // namespace catena::sample

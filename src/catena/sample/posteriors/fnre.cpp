#include "catena/sample/posteriors/fnre.h"

#include "catena/compose/density/held_density.h"
#include "catena/compose/density/joined_density.h"
#include "catena/compose/density/series_ratio.h"
#include "catena/sample/posteriors/density.h"

namespace catena::sample {
namespace {

std::unique_ptr<Target> fnre_target(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                                    const Parallel& parallel) {
  const auto ratio = [&model = request.model, companions = request.companions,
                      parallel](const compose::ObservedSeries& series) {
    return compose::held_density(compose::density_of_all(
        model, companions, series, [&](const model::TrainedModel& part, const compose::ObservedSeries& records) {
          return compose::series_ratio(model::RatioModel(part), records, parallel);
        }));
  };
  return std::make_unique<DensityTarget>(observed, ratio);
}

PosteriorDraws draw_fnre(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                         const Streams& streams, const Parallel& parallel, Progress& progress) {
  return draw_by_chains(*fnre_target(request, observed, parallel), request, streams, parallel, progress);
}

PosteriorDraws draw_fnre_sums(const PosteriorRequest& request, const compose::SeriesState& state,
                              const Streams& streams, const Parallel& parallel, Progress& progress) {
  const DensityTarget target(
      compose::held_density(compose::ratio_of_sums(model::RatioModel(request.model), state.sums, parallel)));
  return draw_by_chains(target, request, streams, parallel, progress);
}

}  // namespace

PosteriorSampler fnre_posterior_sampler() {
  return {.name = "fnre",
          .settings = mcmc_fields(),
          .draw = draw_fnre,
          .draw_sums = draw_fnre_sums,
          .joins = true,
          .target = fnre_target};
}

}  // namespace catena::sample

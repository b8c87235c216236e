#include "catena/sample/posteriors/nle_summary.h"

#include "catena/model/posterior/summary_likelihood_model.h"
#include "catena/sample/posteriors/density.h"
#include "catena/sample/posteriors/summarised_density.h"

namespace catena::sample {
namespace {

std::unique_ptr<Target> nle_summary_target(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                                           const Parallel& parallel) {
  const model::SummaryLikelihoodModel likelihood(request.model);
  check_one_series(request, likelihood.embedding());
  return std::make_unique<DensityTarget>(std::make_unique<SummarisedDensity>(
      model::record_summary_likelihood(likelihood.settings, request.model.prior.size()), likelihood.weights(),
      request.model.source, likelihood.summaries(observed.c), parallel));
}

PosteriorDraws draw_nle_summary(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                                const Streams& streams, const Parallel& parallel, Progress& progress) {
  PosteriorDraws draws =
      draw_by_chains(*nle_summary_target(request, observed, parallel), request, streams, parallel, progress);
  draws.info["longest"] = model::longest_series(request.model);
  return draws;
}

}  // namespace

PosteriorSampler nle_summary_posterior_sampler() {
  return {.name = "nle_summary",
          .settings = mcmc_fields(),
          .draw = draw_nle_summary,
          .target = nle_summary_target,
          .whole_series = true,
          .leaves_out_gaps = [](const model::TrainedModel& model) {
            return model::SummaryLikelihoodModel(model).embedding().sums;
          }};
}

}  // namespace catena::sample

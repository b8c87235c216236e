#include "catena/sample/posterior.h"

#include <fmt/format.h>

#include "catena/sample/fnle_posterior.h"
#include "catena/sample/fnre_posterior.h"
#include "catena/sample/fnse_posterior.h"

namespace catena::sample {

const Registry<PosteriorSampler>& posterior_samplers() {
  static const Registry<PosteriorSampler> registry(
      "method", {fnse_posterior_sampler(), fnle_posterior_sampler(), fnre_posterior_sampler()});
  return registry;
}

PosteriorDraws draw_posterior(const PosteriorRequest& request, const Streams& streams, const Parallel& parallel,
                              Progress& progress) {
  const PosteriorSampler& sampler = posterior_samplers().at("sample", request.model.method);
  check::at_least("sample", "the number of draws", request.draws, std::size_t{1});
  PosteriorDraws draws;
  if (request.state.empty()) {
    compose::ObservedSeries observed = compose::observed_series("sample", request.model, request.series, request.times);
    draws = sampler.draw(request, observed, streams, parallel, progress);
    draws.info["transitions"] = observed.transitions();
    draws.observed = std::move(observed);
  } else {
    check::that(sampler.draw_stream != nullptr, "sample", "the method of a state file", request.model.method,
                "one that can follow a stream (fnse)");
    draws = sampler.draw_stream(request, streams, parallel, progress);
  }
  draws.theta = Matrix(draws.z.rows(), draws.z.cols());
  for (std::size_t k = 0; k < draws.z.rows(); ++k) request.model.prior.to_theta(draws.z.row(k), draws.theta.row(k));
  draws.info["method"] = request.model.method;
  draws.info["outside_training_range"] = draws.observed.outside;
  draws.info["worst_excess"] = draws.observed.worst_excess;
  draws.info["outcome"] = name(draws.outcome);
  return draws;
}

std::string extrapolation_warning(const compose::ObservedSeries& observed) {
  if (observed.outside == 0) return "";
  return fmt::format(
      "{} of {} transitions lie outside the training range, the worst (number {}) by {:.2g} standard deviations: local "
      "estimates extrapolate there; simulate with a wider proposal",
      observed.outside, observed.transitions(), observed.worst_transition + 1, observed.worst_excess);
}

}  // namespace catena::sample

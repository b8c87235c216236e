#include "catena/sample/posterior.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/sample/fnle_posterior.h"
#include "catena/sample/fnre_posterior.h"
#include "catena/sample/fnse_posterior.h"
#include "catena/simulate/around.h"

namespace catena::sample {

const Registry<PosteriorSampler>& posterior_samplers() {
  static const Registry<PosteriorSampler> registry(
      "method", {fnse_posterior_sampler(), fnle_posterior_sampler(), fnre_posterior_sampler()});
  return registry;
}

namespace {

constexpr std::size_t draws_for_one = 2;  // that are made for one that is kept when weights choose

/// Draws under a prior around some posterior become draws under the true one: `count` of them are kept, chosen by the
/// weights N(z; 0, I)/N(z; μ, LLᵀ) with one random number for all (systematic resampling), and z is that of the base.
void restore_prior(const simulate::Around& around, std::size_t count, Stream stream, PosteriorDraws& draws) {
  const std::size_t n = draws.z.rows(), d = draws.z.cols();
  std::vector<double> weights(n);
  for (std::size_t k = 0; k < n; ++k) weights[k] = around.log_weight(draws.z.row(k));
  const double largest = *std::ranges::max_element(weights);
  double sum = 0, squares = 0;
  for (double& weight : weights) {
    weight = std::exp(weight - largest);
    sum += weight;
    squares += weight * weight;
  }
  Matrix kept(count, d);
  std::size_t k = 0;
  double passed = weights[0];
  const double offset = stream.uniform();
  for (std::size_t i = 0; i < count; ++i) {
    const double at = (static_cast<double>(i) + offset) * sum / static_cast<double>(count);
    while (passed < at && k + 1 < n) passed += weights[++k];
    const Eigen::VectorXd z = around.to_base(draws.z.row(k));
    std::ranges::copy(z, kept.row(i).begin());
  }
  draws.z = std::move(kept);
  draws.chains = 1;
  draws.info["prior_restored"] = {{"draws", n}, {"ess", sum * sum / squares}};
}

}  // namespace

PosteriorDraws draw_posterior(const PosteriorRequest& asked, const Streams& streams, const Parallel& parallel,
                              Progress& progress) {
  const auto around = simulate::around_of(asked.model.prior);
  PosteriorRequest request = asked;
  if (around) request.draws *= draws_for_one;
  const PosteriorSampler& sampler = posterior_samplers().at("sample", request.model.method);
  check::at_least("sample", "the number of draws", request.draws, std::size_t{1});
  PosteriorDraws draws;
  if (request.state.empty()) {
    compose::ObservedSeries observed = observed_series("sample", request);
    draws = sampler.draw(request, observed, streams, parallel, progress);
    draws.info["transitions"] = observed.all_transitions();
    if (!request.more_series.empty()) draws.info["series"] = request.more_series.size() + 1;
    draws.observed = std::move(observed);
  } else {
    check::that(sampler.draw_stream != nullptr, "sample", "the method of a state file", request.model.method,
                "one that can follow a stream (fnse)");
    check::that(request.more_series.empty() && request.companions.empty(), "sample", "the request with a state file",
                "one with several series or models", "of one series and one model");
    draws = sampler.draw_stream(request, streams, parallel, progress);
  }
  if (around) restore_prior(*around, asked.draws, streams.stream("prior"), draws);
  const simulate::Prior& prior = around ? around->base : request.model.prior;
  draws.theta = Matrix(draws.z.rows(), draws.z.cols());
  for (std::size_t k = 0; k < draws.z.rows(); ++k) prior.to_theta(draws.z.row(k), draws.theta.row(k));
  draws.info["method"] = request.model.method;
  draws.info["outside_training_range"] = draws.observed.all_outside();
  draws.info["worst_excess"] = draws.observed.worst_excess;
  draws.info["outcome"] = name(draws.outcome);
  return draws;
}

compose::ObservedSeries observed_series(std::string_view function, const PosteriorRequest& request) {
  const bool joins = posterior_samplers().at(function, request.model.method).joins;
  check::that(joins || request.companions.empty(), function, "the method of several models", request.model.method,
              "one that composes them");
  std::vector<simulate::SeriesView> series{{request.series, request.times}};
  series.insert(series.end(), request.more_series.begin(), request.more_series.end());
  return compose::observed_series(function, request.model, request.companions, series, request.paths);
}

std::string extrapolation_warning(const compose::ObservedSeries& observed) {
  if (observed.outside == 0) {
    for (const compose::ObservedSeries& companion : observed.companions) {
      if (companion.outside > 0) return extrapolation_warning(companion);
    }
    return "";
  }
  return fmt::format(
      "{} of {} transitions lie outside the training range, the worst (number {}) by {:.2g} standard deviations: local "
      "estimates extrapolate there; simulate with a wider proposal",
      observed.outside, observed.transitions(), observed.worst_transition + 1, observed.worst_excess);
}

}  // namespace catena::sample

#include "catena/sample/posterior.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "catena/core/check.h"
#include "catena/model/preset.h"
#include "catena/sample/posteriors/fnle.h"
#include "catena/sample/posteriors/fnre.h"
#include "catena/sample/posteriors/nle_summary.h"
#include "catena/sample/posteriors/npe.h"
#include "catena/sample/posteriors/nse.h"
#include "catena/sample/posteriors/score.h"
#include "catena/sample/restored_prior.h"
#include "catena/sample/stream.h"

namespace catena::sample {

const Registry<PosteriorSampler>& posterior_samplers() {
  static const Registry<PosteriorSampler> registry = [] {
    std::vector<PosteriorSampler> samplers{
        fnle_posterior_sampler(),        fnre_posterior_sampler(),        fnse_posterior_sampler(),
        fnbe_posterior_sampler(),        npe_posterior_sampler(),         npe_windows_posterior_sampler(),
        npe_summary_posterior_sampler(), nle_summary_posterior_sampler(), nse_posterior_sampler()};
    for (PosteriorSampler& sampler : samplers) sampler.settings.push_back(model::preset_field());
    return Registry<PosteriorSampler>("method", std::move(samplers));
  }();
  return registry;
}

nlohmann::json sampler_settings(std::string_view function, std::string_view method, const nlohmann::json& named) {
  const PosteriorSampler& sampler = posterior_samplers().at(function, method);
  nlohmann::json all = model::with_preset(function, method, "sample", named).settings;
  check_used(function, sampler.settings, named, all);
  return all;
}

PosteriorDraws draw_posterior(const PosteriorRequest& asked, const Streams& streams, const Parallel& parallel,
                              Progress& progress) {
  const prior::TruePrior true_prior = asked.model.true_prior();
  const auto& around = true_prior.around();
  PosteriorRequest request = asked;
  request.settings = sampler_settings("sample", asked.model.method, asked.settings);
  if (around) request.draws *= draws_for_one;
  const PosteriorSampler& sampler = posterior_samplers().at("sample", request.model.method);
  check::at_least("sample", "the number of draws", request.draws, std::size_t{1});
  PosteriorDraws draws;
  if (request.state.empty()) {
    compose::ObservedSeries observed = observed_series("sample", request);
    draws = sampler.draw(request, observed, streams, parallel, progress);
    draws.info["transitions"] = observed.all_transitions();
    if (request.series.size() > 1) draws.info["series"] = request.series.size();
    draws.observed = std::move(observed);
  } else {
    draws = draw_stream(request, sampler, streams, parallel, progress);
  }
  if (around) {
    RestoredDraws restored = restore_prior(*around, draws.z, asked.draws, streams.stream("prior"));
    const double least = least_restored * static_cast<double>(draws.z.rows());
    draws.info["prior_restored"] = {{"draws", draws.z.rows()}, {"ess", restored.ess}, {"least", least}};
    if (restored.ess < least) {
      draws.findings.push_back({Outcome::too_few_effective,
                                fmt::format("{} draws under the prior of this round are worth {:.0f} under the true "
                                            "one, but must be worth {:.0f}",
                                            draws.z.rows(), restored.ess, least)});
    }
    draws.z = std::move(restored.z);
    draws.chains = 1;
    draws.health.clear();
  }
  draws.theta = Matrix(draws.z.rows(), draws.z.cols());
  for (std::size_t k = 0; k < draws.z.rows(); ++k) true_prior.prior().to_theta(draws.z.row(k), draws.theta.row(k));
  draws.info["method"] = request.model.method;
  if (asked.settings.contains("preset")) draws.info["preset"] = asked.settings["preset"];
  draws.info["outside_training_range"] = draws.observed.all_outside();
  draws.info["worst_excess"] = draws.observed.worst_excess;
  draws.add_findings({});
  return draws;
}

void PosteriorDraws::add_findings(std::vector<DrawFinding> more) {
  std::ranges::move(more, std::back_inserter(findings));
  info["findings"] = nlohmann::json::array();
  for (const DrawFinding& finding : findings) {
    info["findings"].push_back({{"outcome", name(finding.outcome)},
                                {"sentence", finding.sentence},
                                {"advice", advice(finding.outcome, "sample")}});
  }
  if (outcome == Outcome::ok && !findings.empty()) outcome = findings.front().outcome;
  info["outcome"] = name(outcome);
}

std::string PosteriorDraws::refusal() const {
  for (const DrawFinding& finding : findings) {
    if (finding.outcome == Outcome::too_few_effective) return finding.sentence;
  }
  for (std::size_t r = 0; r < theta.rows(); ++r) {
    if (std::ranges::all_of(theta.row(r), [](double value) { return std::isfinite(value); })) return "";
  }
  return fmt::format("none of {} draws is finite", theta.rows());
}

compose::ObservedSeries observed_series(std::string_view function, const PosteriorRequest& request) {
  const PosteriorSampler& sampler = posterior_samplers().at(function, request.model.method);
  check::that(sampler.joins || request.companions.empty(), function, "the method of several models",
              request.model.method, "one that composes them");
  simulate::PathSettings paths = request.paths;
  if (sampler.leaves_out_gaps != nullptr && sampler.leaves_out_gaps(request.model)) paths.cut_gaps = true;
  return compose::observed_series(function, request.model, request.companions, request.series, paths);
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

#include "catena/sample/posteriors/score.h"

#include <fmt/format.h>

#include "catena/compose/scores/joined_scores.h"
#include "catena/compose/scores/network_scores.h"
#include "catena/compose/scores/score_source.h"
#include "catena/compose/series_state.h"
#include "catena/core/check.h"
#include "catena/core/stopwatch.h"
#include "catena/sample/diffusion/read_precisions.h"
#include "catena/sample/posterior_map.h"

namespace catena::sample {
namespace {

/// Composition and sampling, whatever the source of the scores.
PosteriorDraws draw_from(const ScorePosteriorSettings& settings, compose::RuleInput input, std::size_t count,
                         const Streams& streams, const Parallel& parallel, Progress& progress) {
  const Stopwatch watch;
  PosteriorDraws result;
  const auto score = compose::compose(settings.rule, std::move(input));
  DiffusionDraws draws = diffusion_sample(*score, count, settings.sample, streams, parallel, progress);
  result.info = {{"settings", to_json(settings)},
                 {"adjustment", score->adjustment()},
                 {"unknown_directions", score->unknown().directions},
                 {"local_covariances", score->unknown().covariances},
                 {"evaluations", draws.info.evaluations},
                 {"diverged", draws.info.diverged},
                 {"cuts", draws.info.cuts},
                 {"a_end", draws.info.a_end},
                 {"seconds", {{"sample", watch.seconds()}}}};
  result.outcome = draws.info.outcome;
  result.z = std::move(draws.z);
  return result;
}

const compose::ScoreSource& source_of(const model::TrainedModel& model) {
  return compose::score_sources().at("sample", model.method);
}

/// Joint networks of fnse know nothing of the amortised Gaussian, which contradicts them on sir. Local ones stand in
/// its coordinates; separable ones draw as their streams do, whose sums have its precisions.
bool reads_precisions(const model::TrainedModel& model) {
  return model.method == "fnse" && model::ScoreModel(model).settings.network == "joint";
}

/// The local scores of a series and what a rule needs beside them.
struct LocalEstimates {
  LocalEstimates(const ScorePosteriorSettings& settings, const PosteriorRequest& request,
                 const compose::ObservedSeries& observed, const Streams& streams, const Parallel& parallel,
                 Progress& progress) {
    const std::string schedule = source_of(request.model).schedule(request.model);
    std::vector<std::unique_ptr<compose::LocalScores>> parts;
    std::vector<compose::LocalPrecisions> precisions;
    const bool weighted = compose::rules().at("sample", settings.rule).needs_precisions;
    std::string from = settings.precisions;
    if (from == "auto") from = weighted && reads_precisions(request.model) ? "scores" : "amortised";
    const auto add = [&](const model::TrainedModel& part, const compose::ObservedSeries& records) {
      if (records.transitions() == 0) return;
      const compose::ScoreSource& source = source_of(part);
      check::that(source.schedule(part) == schedule, "sample", fmt::format("the schedule of {}", part.source),
                  source.schedule(part), fmt::format("{}, that of {}", schedule, request.model.source));
      parts.push_back(source.scores(part, records));
      if (from == "amortised") precisions.push_back(source.precisions(part, records));
    };
    const Stopwatch watch;
    add(request.model, observed);
    for (std::size_t k = 0; k < observed.companions.size(); ++k) {
      add(*request.companions[k], observed.companions[k]);
    }
    scores = compose::joined_scores(std::move(parts));
    const diffusion::Schedule& noise = diffusion::schedules().at("sample", schedule).schedule;
    input = {.source = scores.get(), .schedule = noise, .settings = settings.compose};
    if (from == "amortised") {
      input.precisions = compose::joined_precisions(precisions);
    } else if (weighted && from == "scores") {
      check::that(scores->has_jacobians(), "sample", "precisions", from,
                  fmt::format("amortised or sampled: the scores of {} have no Jacobians", request.model.source));
      input.precisions = read_precisions(*scores, noise, parallel);
    } else if (weighted) {
      LocalPrecisionResult local =
          local_precisions(*scores, noise, {.diagonal = from == "sampled"}, streams, parallel, progress);
      outcome = local.info.outcome;
      input.precisions = std::move(local.precisions);
    }
    seconds = watch.seconds();
  }

  std::unique_ptr<compose::LocalScores> scores;
  compose::RuleInput input;
  Outcome outcome = Outcome::ok;
  double seconds = 0;
};

template <class Settings>
PosteriorDraws draw_by_scores(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                              const Streams& streams, const Parallel& parallel, Progress& progress) {
  const auto settings = from_json<Settings>("sample", request.settings);
  LocalEstimates local(settings, request, observed, streams, parallel, progress);
  PosteriorDraws result = draw_from(settings, std::move(local.input), request.draws, streams, parallel, progress);
  result.info["seconds"]["precisions"] = local.seconds;
  if (local.outcome != Outcome::ok) result.outcome = local.outcome;
  return result;
}

template <class Settings>
MapEstimate map_by_scores(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                          const Streams& streams, const Parallel& parallel, Progress& progress) {
  const auto settings = from_json<Settings>("map", request.settings);
  LocalEstimates local(settings, request, observed, streams, parallel, progress);
  const auto score = compose::compose(settings.rule, std::move(local.input));
  return map_of_score(*score, settings.sample, request.model.true_prior(), streams, parallel, progress);
}

PosteriorDraws draw_score_sums(const PosteriorRequest& request, const compose::SeriesState& state,
                               const Streams& streams, const Parallel& parallel, Progress& progress) {
  const auto settings = from_json<MatchedScorePosteriorSettings>("sample", request.settings);
  check::that(settings.rule == "gauss" && (settings.precisions == "amortised" || settings.precisions == "auto"),
              "sample", "the rule of a state file",
              fmt::format("{} with {} precisions", settings.rule, settings.precisions),
              "gauss with amortised precisions, whose sums it keeps");
  const model::ScoreModel model(request.model);
  const auto transitions = static_cast<std::size_t>(state.transitions);
  const auto scores = compose::scores_of_sums(model, state.sums, transitions);
  compose::RuleInput input{.source = scores.get(), .schedule = model.schedule, .settings = settings.compose};
  input.series_precision = compose::precision_of_sums(state.sums, transitions);
  return draw_from(settings, std::move(input), request.draws, streams, parallel, progress);
}

template <class Settings>
PosteriorSampler sampler_with(std::string_view method) {
  return {.name = method,
          .settings = describe_fields<Settings>(),
          .draw = draw_by_scores<Settings>,
          .joins = true,
          .map = map_by_scores<Settings>};
}

}  // namespace

PosteriorSampler fnse_posterior_sampler() {
  PosteriorSampler sampler = sampler_with<MatchedScorePosteriorSettings>("fnse");
  sampler.draw_sums = draw_score_sums;
  return sampler;
}

PosteriorSampler fnbe_posterior_sampler() { return sampler_with<ScorePosteriorSettings>("fnbe"); }

}  // namespace catena::sample

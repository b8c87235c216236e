#include "catena/sample/fnse_posterior.h"

#include <chrono>

#include "catena/compose/network_scores.h"

namespace catena::sample {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

PosteriorDraws draw(const PosteriorRequest& request, const compose::ObservedSeries& observed, const Streams& streams,
                    const Parallel& parallel, Progress& progress) {
  const auto settings = from_json<FnsePosteriorSettings>("sample", request.settings);
  const compose::ScoreModel model(request.model);
  const auto scores = compose::network_scores(model, observed);
  const auto begin = std::chrono::steady_clock::now();

  PosteriorDraws result;
  result.info["settings"] = to_json(settings);
  compose::RuleInput input{.source = scores.get(), .schedule = model.schedule, .settings = settings.compose};
  if (settings.precisions == "amortised") {
    input.precisions = compose::amortised_precisions(model, observed);
  } else if (compose::rules().at("sample", settings.rule).needs_precisions) {
    LocalPrecisionResult local = local_precisions(
        *scores, model.schedule, {.diagonal = settings.precisions == "sampled"}, streams, parallel, progress);
    result.outcome = local.info.outcome;
    input.precisions = std::move(local.precisions);
  }
  result.info["seconds"]["precisions"] = seconds_since(begin);
  const auto composed = std::chrono::steady_clock::now();
  const auto score = compose::compose(settings.rule, std::move(input));
  result.info["adjustment"] = score->adjustment();

  Draws draws = diffusion_sample(*score, request.draws, settings.sample, streams, parallel, progress);
  result.info["seconds"]["sample"] = seconds_since(composed);
  result.info["evaluations"] = draws.info.evaluations;
  result.info["diverged"] = draws.info.diverged;
  result.info["cuts"] = draws.info.cuts;
  result.info["a_end"] = draws.info.a_end;
  if (result.outcome == Outcome::ok) result.outcome = draws.info.outcome;
  result.z = std::move(draws.z);
  return result;
}

}  // namespace

PosteriorSampler fnse_posterior_sampler() { return {"fnse", describe_fields<FnsePosteriorSettings>(), draw}; }

}  // namespace catena::sample

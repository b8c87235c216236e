// Draws from the posterior of a series, and files of draws.

#include <nanobind/stl/optional.h>

#include <algorithm>

#include "binding.h"
#include "catena/compose/series_state.h"
#include "catena/core/parallel.h"
#include "catena/sample/draws.h"
#include "catena/sample/judgement/judge.h"
#include "catena/sample/posterior.h"
#include "catena/simulate/dates.h"
#include "posterior_request.h"

namespace catena::python {

sample::PosteriorRequest request_of(const model::TrainedModel& model, const Models& companions,
                                    const std::vector<Rows>& series, const std::vector<Numbers>& times,
                                    const std::vector<Rows>& covariates, const std::string& settings,
                                    const std::string& paths) {
  CATENA_ASSERT(!series.empty());
  return {.model = model,
          .series = views_of(series, times, covariates),
          .settings = parse(settings),
          .companions = companions,
          .paths = from_json<simulate::PathSettings>("sample", parse(paths))};
}

namespace {

Array health_rows(const std::vector<sample::ChainHealth>& health) {
  Matrix rows(health.size(), 3);
  for (std::size_t p = 0; p < health.size(); ++p) {
    rows(p, 0) = health[p].r_hat;
    rows(p, 1) = health[p].bulk_ess;
    rows(p, 2) = health[p].tail_ess;
  }
  return to_numpy(std::move(rows));
}

nb::dict draw(const model::TrainedModel& model, const Models& companions, const std::vector<Rows>& series,
              const std::vector<Numbers>& times, const std::vector<Rows>& covariates, const std::string& settings,
              const std::string& paths, std::size_t n, std::uint64_t seed, int threads, bool show_progress,
              const std::string& state) {
  sample::PosteriorRequest request = request_of(model, companions, series, times, covariates, settings, paths);
  request.draws = n;
  request.state = state;
  sample::PosteriorDraws draws;
  run(show_progress, [&](Progress& progress) {
    const Streams streams(seed);
    const Parallel parallel(threads);
    draws = sample::draw_posterior(request, streams, parallel, progress);
    sample::judge_draws(request, draws, streams.child("judgement"), parallel);
  });
  nb::dict result;
  result["outcome"] = std::string(name(draws.outcome));
  result["refusal"] = draws.refusal();
  result["warning"] = sample::extrapolation_warning(draws.observed);
  result["info"] = text(draws.info);
  result["record"] = text(sample::draws_record(request, draws, seed));
  result["chains"] = draws.chains;
  result["health"] = health_rows(draws.health);
  result["theta"] = to_numpy(std::move(draws.theta));
  return result;
}

/// [transitions] of every θ.
Array log_likelihood(const model::TrainedModel& model, const Models& companions, const std::vector<Rows>& series,
                     const std::vector<Numbers>& times, const std::vector<Rows>& covariates,
                     const std::string& settings, const std::string& paths, const Rows& theta, int threads) {
  const sample::PosteriorRequest request = request_of(model, companions, series, times, covariates, settings, paths);
  Matrix result;
  run(false, [&](Progress&) { result = sample::transition_log_likelihood(request, view(theta), Parallel(threads)); });
  return to_numpy(std::move(result));
}

/// R-hat, bulk and tail effective sample size of each parameter, of chains × draws one after the other.
Array chain_health(const Rows& theta, std::size_t chains) {
  std::vector<sample::ChainHealth> health;
  const std::size_t length = theta.shape(0) / chains;
  for (std::size_t p = 0; p < theta.shape(1); ++p) {
    Matrix traces(chains, length);
    for (std::size_t k = 0; k < chains * length; ++k) traces(k / length, k % length) = view(theta)(k, p);
    health.push_back(sample::chain_health(traces));
  }
  return health_rows(health);
}

/// Dates, in seconds since 1970, as numbers on one scale, and that scale.
nb::tuple number_dates(const std::string& function, const std::vector<Numbers>& dates, const std::string& paths,
                       bool unit_matters) {
  std::vector<std::vector<double>> seconds;
  for (const Numbers& one : dates) seconds.emplace_back(span(one).begin(), span(one).end());
  const Calendar calendar =
      simulate::calendar_of(function, seconds, from_json<simulate::PathSettings>(function, parse(paths)), unit_matters);
  nb::list numbers;
  for (std::vector<double>& one : seconds) {
    std::ranges::transform(one, one.begin(), [&](double date) { return calendar.number(date); });
    numbers.append(to_numpy(std::move(one)));
  }
  return nb::make_tuple(numbers, text(to_json(calendar)));
}

/// The dates, in seconds since 1970, of numbers on a scale.
Array dates_of(const std::string& calendar, const Numbers& numbers) {
  const Calendar scale = calendar_from("dates", parse(calendar));
  std::vector<double> seconds(span(numbers).begin(), span(numbers).end());
  for (double& value : seconds) value = scale.seconds(value);
  return to_numpy(std::move(seconds));
}

Array log_prob(const model::TrainedModel& model, const Models& companions, const std::vector<Rows>& series,
               const std::vector<Numbers>& times, const std::vector<Rows>& covariates, const std::string& settings,
               const std::string& paths, const Rows& theta, int threads) {
  const sample::PosteriorRequest request = request_of(model, companions, series, times, covariates, settings, paths);
  std::vector<double> result;
  run(false, [&](Progress&) { result = sample::posterior_log_prob(request, view(theta), Parallel(threads)); });
  return to_numpy(std::move(result));
}

nb::dict map(const model::TrainedModel& model, const Models& companions, const std::vector<Rows>& series,
             const std::vector<Numbers>& times, const std::vector<Rows>& covariates, const std::string& settings,
             const std::string& paths, std::uint64_t seed, int threads, bool show_progress) {
  const sample::PosteriorRequest request = request_of(model, companions, series, times, covariates, settings, paths);
  sample::MapEstimate found;
  run(show_progress,
      [&](Progress& progress) { found = sample::posterior_map(request, Streams(seed), Parallel(threads), progress); });
  nb::dict result;
  result["outcome"] = std::string(name(found.outcome));
  result["warning"] = sample::extrapolation_warning(found.observed);
  result["info"] = text(found.info);
  result["log_prob"] = found.log_prob;
  result["theta"] = to_numpy(std::move(found.theta));
  return result;
}

void write_draws(const std::string& path, const std::vector<std::string>& parameters, const Rows& theta,
                 std::size_t chains, const std::vector<std::string>& states, const std::vector<Rows>& series,
                 const std::vector<Numbers>& times, const std::vector<Rows>& covariates, const Rows& learned,
                 const std::string& record, const Rows& health, const Rows& log_likelihood, const Numbers& log_density,
                 const Rows& prior, const std::string& calendar, const std::vector<std::string>& covariate_names) {
  sample::Draws draws{parameters, copy(theta), chains};
  draws.learned = copy(learned);
  draws.log_likelihood = copy(log_likelihood);
  draws.log_density.assign(span(log_density).begin(), span(log_density).end());
  draws.prior = copy(prior);
  for (std::size_t p = 0; p < health.shape(0); ++p) {
    draws.health.push_back({view(health)(p, 0), view(health)(p, 1), view(health)(p, 2)});
  }
  for (std::size_t s = 0; s < series.size(); ++s) {
    draws.series.push_back({states, copy(series[s]), {span(times[s]).begin(), span(times[s]).end()}});
    if (!calendar.empty()) draws.series.back().calendar = calendar_from("write_draws", parse(calendar));
    draws.series.back().covariates = copy(covariates[s]);
    draws.series.back().covariate_names = covariate_names;
  }
  const nlohmann::json parsed = parse(record);  // items() refers to it
  for (const auto& [key, value] : parsed.items()) draws.record[key] = value;
  const nb::gil_scoped_release release;
  sample::write_draws(path, draws);
}

nb::dict read_draws(const std::string& path) {
  sample::Draws draws;
  {
    const nb::gil_scoped_release release;
    draws = sample::read_draws(path);
  }
  nb::list series, times, states, covariates;
  std::string calendar;
  std::vector<std::string> covariate_names;
  for (files::Series& one : draws.series) {
    covariate_names = one.covariate_names;
    if (covariate_names.empty()) one.covariates = Matrix(one.values.rows(), 0);
    covariates.append(to_numpy(std::move(one.covariates)));
    if (one.calendar) calendar = text(to_json(*one.calendar));
    states.append(one.names);
    times.append(to_numpy(std::move(one.times)));
    series.append(to_numpy(std::move(one.values)));
  }
  nb::dict result;
  result["parameters"] = draws.parameters;
  result["theta"] = to_numpy(std::move(draws.values));
  result["chains"] = draws.chains;
  result["calendar"] = calendar;
  result["health"] = health_rows(draws.health);
  result["log_likelihood"] = to_numpy(std::move(draws.log_likelihood));
  result["log_density"] = to_numpy(std::move(draws.log_density));
  result["prior"] = to_numpy(std::move(draws.prior));
  result["learned"] = draws.learned.rows() > 0 ? nb::cast(to_numpy(std::move(draws.learned))) : nb::none();
  result["series"] = series;
  result["times"] = times;
  result["covariates"] = covariates;
  result["covariate_names"] = covariate_names;
  result["states"] = states;
  result["record"] = text(draws.record);
  return result;
}

}  // namespace

void bind_sample(nb::module_& m) {
  m.def("draw_posterior", &draw, "model"_a, "companions"_a, "series"_a, "times"_a, "covariates"_a, "settings"_a,
        "paths"_a, "n"_a, "seed"_a, "threads"_a, "show_progress"_a, "state"_a);
  m.def("log_prob", &log_prob, "model"_a, "companions"_a, "series"_a, "times"_a, "covariates"_a, "settings"_a,
        "paths"_a, "theta"_a, "threads"_a);
  m.def("map", &map, "model"_a, "companions"_a, "series"_a, "times"_a, "covariates"_a, "settings"_a, "paths"_a,
        "seed"_a, "threads"_a, "show_progress"_a);
  m.def("can_stream", &compose::has_sums, "model"_a);
  m.def("write_draws", &write_draws, "path"_a, "parameters"_a, "theta"_a, "chains"_a, "states"_a, "series"_a, "times"_a,
        "covariates"_a, "learned"_a, "record"_a, "health"_a, "log_likelihood"_a, "log_density"_a, "prior"_a,
        "calendar"_a, "covariate_names"_a);
  m.def("log_likelihood", &log_likelihood, "model"_a, "companions"_a, "series"_a, "times"_a, "covariates"_a,
        "settings"_a, "paths"_a, "theta"_a, "threads"_a);
  m.def("chain_health", &chain_health, "theta"_a, "chains"_a);
  m.def("number_dates", &number_dates, "function"_a, "dates"_a, "paths"_a, "unit_matters"_a);
  m.def("dates_of", &dates_of, "calendar"_a, "numbers"_a);
  m.def("seconds_of_date", [](const std::string& text) { return seconds_of_date(text); }, "text"_a);
  m.def("read_draws", &read_draws, "path"_a);
  m.def("path_settings",
        [] { return text(to_json(std::span<const FieldInfo>(describe_fields<simulate::PathSettings>()))); });
  m.def("sampler_settings", [](const std::string& method) {
    return text(to_json(sample::posterior_samplers().at("sample", method).settings));
  });
}

}  // namespace catena::python

// Draws from the posterior of a series, and files of draws.

#include "binding.h"
#include "catena/compose/series_state.h"
#include "catena/core/parallel.h"
#include "catena/sample/draws.h"
#include "catena/sample/judgement/judge.h"
#include "catena/sample/posterior.h"
#include "posterior_request.h"

namespace catena::python {

sample::PosteriorRequest request_of(const model::TrainedModel& model, const Models& companions,
                                    const std::vector<Rows>& series, const std::vector<Numbers>& times,
                                    const std::string& settings, const std::string& paths) {
  CATENA_ASSERT(!series.empty());
  return {.model = model,
          .series = views_of(series, times),
          .settings = parse(settings),
          .companions = companions,
          .paths = from_json<simulate::PathSettings>("sample", parse(paths))};
}

namespace {

nb::dict draw(const model::TrainedModel& model, const Models& companions, const std::vector<Rows>& series,
              const std::vector<Numbers>& times, const std::string& settings, const std::string& paths, std::size_t n,
              std::uint64_t seed, int threads, bool show_progress, const std::string& state) {
  sample::PosteriorRequest request = request_of(model, companions, series, times, settings, paths);
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
  result["theta"] = to_numpy(std::move(draws.theta));
  return result;
}

Array log_prob(const model::TrainedModel& model, const Models& companions, const std::vector<Rows>& series,
               const std::vector<Numbers>& times, const std::string& settings, const std::string& paths,
               const Rows& theta, int threads) {
  const sample::PosteriorRequest request = request_of(model, companions, series, times, settings, paths);
  std::vector<double> result;
  run(false, [&](Progress&) { result = sample::posterior_log_prob(request, view(theta), Parallel(threads)); });
  return to_numpy(std::move(result));
}

nb::dict map(const model::TrainedModel& model, const Models& companions, const std::vector<Rows>& series,
             const std::vector<Numbers>& times, const std::string& settings, const std::string& paths,
             std::uint64_t seed, int threads, bool show_progress) {
  const sample::PosteriorRequest request = request_of(model, companions, series, times, settings, paths);
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
                 const std::vector<Numbers>& times, const Rows& learned, const std::string& record) {
  sample::Draws draws{parameters, copy(theta), chains};
  draws.learned = copy(learned);
  for (std::size_t s = 0; s < series.size(); ++s) {
    draws.series.push_back({states, copy(series[s]), {span(times[s]).begin(), span(times[s]).end()}});
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
  nb::list series, times, states;
  for (files::Series& one : draws.series) {
    states.append(one.names);
    times.append(to_numpy(std::move(one.times)));
    series.append(to_numpy(std::move(one.values)));
  }
  nb::dict result;
  result["parameters"] = draws.parameters;
  result["theta"] = to_numpy(std::move(draws.values));
  result["chains"] = draws.chains;
  result["learned"] = draws.learned.rows() > 0 ? nb::cast(to_numpy(std::move(draws.learned))) : nb::none();
  result["series"] = series;
  result["times"] = times;
  result["states"] = states;
  result["record"] = text(draws.record);
  return result;
}

}  // namespace

void bind_sample(nb::module_& m) {
  m.def("draw_posterior", &draw, "model"_a, "companions"_a, "series"_a, "times"_a, "settings"_a, "paths"_a, "n"_a,
        "seed"_a, "threads"_a, "show_progress"_a, "state"_a);
  m.def("log_prob", &log_prob, "model"_a, "companions"_a, "series"_a, "times"_a, "settings"_a, "paths"_a, "theta"_a,
        "threads"_a);
  m.def("map", &map, "model"_a, "companions"_a, "series"_a, "times"_a, "settings"_a, "paths"_a, "seed"_a, "threads"_a,
        "show_progress"_a);
  m.def("can_stream", &compose::has_sums, "model"_a);
  m.def("write_draws", &write_draws, "path"_a, "parameters"_a, "theta"_a, "chains"_a, "states"_a, "series"_a, "times"_a,
        "learned"_a, "record"_a);
  m.def("read_draws", &read_draws, "path"_a);
  m.def("path_settings",
        [] { return text(to_json(std::span<const FieldInfo>(describe_fields<simulate::PathSettings>()))); });
  m.def("sampler_settings", [](const std::string& method) {
    return text(to_json(sample::posterior_samplers().at("sample", method).settings));
  });
}

}  // namespace catena::python

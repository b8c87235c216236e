// Draws from the posterior of a series, and files of draws.

#include "binding.h"
#include "catena/compose/series_state.h"
#include "catena/core/parallel.h"
#include "catena/core/version.h"
#include "catena/files/netcdf/netcdf.h"
#include "catena/sample/draws_file.h"
#include "catena/sample/posterior.h"

namespace catena::python {
namespace {

using Models = std::vector<const model::TrainedModel*>;

std::vector<simulate::SeriesView> more_of(const std::vector<Rows>& series, const std::vector<Numbers>& times) {
  std::vector<simulate::SeriesView> more;
  for (std::size_t s = 1; s < series.size(); ++s) more.push_back({view(series[s]), span(times[s])});
  return more;
}

/// Looks at what it is given. As many times as series, one or more.
sample::PosteriorRequest request_of(const model::TrainedModel& model, const Models& companions,
                                    const std::vector<Rows>& series, const std::vector<Numbers>& times,
                                    const std::string& settings, const std::string& paths) {
  CATENA_ASSERT(!series.empty() && series.size() == times.size());
  return {.model = model,
          .series = view(series.front()),
          .times = span(times.front()),
          .settings = parse(settings),
          .more_series = more_of(series, times),
          .companions = companions,
          .paths = from_json<simulate::PathSettings>("sample", parse(paths))};
}

nb::dict draw(const model::TrainedModel& model, const Models& companions, const std::vector<Rows>& series,
              const std::vector<Numbers>& times, const std::string& settings, const std::string& paths, std::size_t n,
              std::uint64_t seed, int threads, bool show_progress, const std::string& state) {
  sample::PosteriorRequest request = request_of(model, companions, series, times, settings, paths);
  request.draws = n;
  request.state = state;
  sample::PosteriorDraws draws;
  run(show_progress,
      [&](Progress& progress) { draws = sample::draw_posterior(request, Streams(seed), Parallel(threads), progress); });
  nb::dict result;
  result["outcome"] = std::string(name(draws.outcome));
  result["warning"] = sample::extrapolation_warning(draws.observed);
  result["info"] = text(draws.info);
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
                 const std::vector<Numbers>& times, const std::string& attributes) {
  files::Group group =
      sample::draws_group(parameters, view(theta), chains, states, view(series.front()), more_of(series, times));
  const nlohmann::json record = parse(attributes);
  group.attributes["catena_version"] = std::string(version());
  for (const auto& [key, value] : record.items()) group.attributes[key] = value;
  const nb::gil_scoped_release release;
  files::write_netcdf(path, group);
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
        "attributes"_a);
  m.def("path_settings",
        [] { return text(to_json(std::span<const FieldInfo>(describe_fields<simulate::PathSettings>()))); });
  m.def("sampler_settings", [](const std::string& method) {
    return text(to_json(sample::posterior_samplers().at("sample", method).settings));
  });
}

}  // namespace catena::python

// Draws from the posterior of a series, and files of draws.

#include "binding.h"
#include "catena/compose/series_state.h"
#include "catena/core/parallel.h"
#include "catena/core/version.h"
#include "catena/files/netcdf.h"
#include "catena/sample/draws_file.h"
#include "catena/sample/posterior.h"

namespace catena::python {
namespace {

nb::dict draw(const train::TrainedModel& model, const Rows& series, const Numbers& times, std::size_t n,
              const std::string& settings, std::uint64_t seed, int threads, bool show_progress,
              const std::string& state) {
  const sample::PosteriorRequest request{.model = model,
                                         .series = view(series),
                                         .times = span(times),
                                         .draws = n,
                                         .settings = parse(settings),
                                         .state = state};
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

Array log_prob(const train::TrainedModel& model, const Rows& series, const Numbers& times, const Rows& theta,
               const std::string& settings, int threads) {
  const sample::PosteriorRequest request{
      .model = model, .series = view(series), .times = span(times), .settings = parse(settings)};
  std::vector<double> result;
  run(false, [&](Progress&) { result = sample::posterior_log_prob(request, view(theta), Parallel(threads)); });
  return to_numpy(std::move(result));
}

nb::dict map(const train::TrainedModel& model, const Rows& series, const Numbers& times, const std::string& settings,
             std::uint64_t seed, int threads, bool show_progress) {
  const sample::PosteriorRequest request{
      .model = model, .series = view(series), .times = span(times), .settings = parse(settings)};
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

/// Whether `draw_posterior` can follow a stream with a state file.
bool can_stream(const train::TrainedModel& model) {
  if (model.method != "fnse") return false;
  try {
    compose::SeriesState(compose::ScoreModel(model));
    return true;
  } catch (const InputError&) {
    return false;  // a joint network has no sums to keep
  }
}

void write_draws(const std::string& path, const std::vector<std::string>& parameters, const Rows& theta,
                 std::size_t chains, const std::vector<std::string>& states, const Rows& series,
                 const std::string& attributes) {
  files::Group group = sample::draws_group(parameters, view(theta), chains, states, view(series));
  const nlohmann::json record = parse(attributes);
  group.attributes["catena_version"] = std::string(version());
  for (const auto& [key, value] : record.items()) group.attributes[key] = value;
  const nb::gil_scoped_release release;
  files::write_netcdf(path, group);
}

}  // namespace

void bind_sample(nb::module_& m) {
  m.def("draw_posterior", &draw, "model"_a, "series"_a, "times"_a, "n"_a, "settings"_a, "seed"_a, "threads"_a,
        "show_progress"_a, "state"_a);
  m.def("log_prob", &log_prob, "model"_a, "series"_a, "times"_a, "theta"_a, "settings"_a, "threads"_a);
  m.def("map", &map, "model"_a, "series"_a, "times"_a, "settings"_a, "seed"_a, "threads"_a, "show_progress"_a);
  m.def("can_stream", &can_stream, "model"_a);
  m.def("write_draws", &write_draws, "path"_a, "parameters"_a, "theta"_a, "chains"_a, "states"_a, "series"_a,
        "attributes"_a);
  m.def("sampler_settings", [](const std::string& method) {
    return text(to_json(sample::posterior_samplers().at("sample", method).settings));
  });
}

}  // namespace catena::python

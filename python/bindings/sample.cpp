// Draws from the posterior of a series, and files of draws.

#include "binding.h"
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
  m.def("write_draws", &write_draws, "path"_a, "parameters"_a, "theta"_a, "chains"_a, "states"_a, "series"_a,
        "attributes"_a);
  m.def("sampler_settings", [](const std::string& method) {
    return text(to_json(sample::posterior_samplers().at("sample", method).settings));
  });
}

}  // namespace catena::python

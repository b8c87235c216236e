// catena map model.safetensors --observation series.csv: the most probable parameters of a series by a trained model.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdio>
#include <memory>

#include "catena/core/stopwatch.h"
#include "catena/sample/posterior.h"
#include "common.h"
#include "observation.h"
#include "verb.h"

namespace catena::cli {

namespace {

constexpr std::string_view map_function = "catena map";

struct MapOptions {
  Common common;
  ObservationFlags observation;
};

int run_map(const MapOptions& options) {
  const Stopwatch watch;
  const Observed observed(map_function, options.observation);
  const model::TrainedModel& model = observed.model();
  const sample::PosteriorRequest request = observed.request();
  const auto progress = options.common.make_progress();
  const sample::MapEstimate found =
      sample::posterior_map(request, Streams(options.common.seed), options.common.parallel(), *progress);
  const std::string warning = sample::extrapolation_warning(found.observed);
  if (!warning.empty() && !options.common.quiet) fmt::print(stderr, "{}: {}\n", map_function, warning);

  const std::vector<std::string>& names = model.prior.names();
  if (options.common.json) {
    nlohmann::json report = found.info;
    report["theta"] = nlohmann::json::object();
    for (std::size_t i = 0; i < found.theta.size(); ++i) report["theta"][names[i]] = found.theta[i];
    report["log_prob"] = found.log_prob;  // null if the method has no density
    report["warning"] = warning;
    report["seconds"] = watch.seconds();
    print_json(report);
  } else if (!options.common.quiet) {
    for (std::size_t i = 0; i < found.theta.size(); ++i) fmt::print("{:<20} {:.6g}\n", names[i], found.theta[i]);
    if (std::isfinite(found.log_prob)) fmt::print("{:<20} {:.6g}\n", "log_prob", found.log_prob);
    const auto& edge = found.info.value("at_edge", std::vector<std::string>());
    if (!edge.empty()) {
      fmt::print(stderr, "{}: {} at the edge of the prior: widen it if it is meant to hold more\n", map_function,
                 fmt::join(edge, ", "));
    }
  }
  return exit_code(map_function, found.outcome);
}

Run set_up_map(CLI::App& app) {
  const auto options = std::make_shared<MapOptions>();
  add_observation_flags(app, options->observation);
  add_common(app, options->common, Seeded::yes);
  return [options] { return run_map(*options); };
}

}  // namespace

Verb map_verb() { return {"map", "find the most probable parameters of a series by a trained model", set_up_map}; }

}  // namespace catena::cli

// catena reference TASK --observation series.csv -n 1000 -o reference.nc: draws from the exact posterior of a built-in
// task.

#include "catena/evaluate/reference/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "catena/core/stopwatch.h"
#include "catena/files/csv.h"
#include "catena/sample/draws.h"
#include "catena/simulate/dates.h"
#include "catena/tasks/likelihood.h"
#include "common.h"
#include "observation.h"
#include "task_flags.h"
#include "verb.h"

namespace catena::cli {

namespace {

struct ReferenceArguments {
  TaskFlags task;
  std::vector<std::string> observation;
  std::string output;
  simulate::PathSettings paths;
  int n = 1000;
  bool cache = true;
  evaluate::ReferenceSettings settings;
  Common common;
};

int run_reference(const ReferenceArguments& arguments) {
  const Stopwatch watch;
  const tasks::Task task = chosen_task("catena reference", arguments.task);
  auto given = read_observations("catena reference", arguments.observation, task.simulator.state_names,
                                 task.simulator.covariate_names);
  simulate::number_dates("catena reference", given, arguments.paths,
                         task.simulator.uses_time || !tasks::likelihood_steps(task.name).only_one());
  std::vector<simulate::SeriesView> views = simulate::views_of(given);
  for (simulate::SeriesView& view : views) view.names = task.simulator.state_names;
  const std::vector<simulate::Path> paths =
      simulate::paths_of("catena reference", views, task.simulator.states(), tasks::likelihood_steps(task.name),
                         arguments.paths, task.simulator.covariates());
  const auto cache = arguments.cache ? evaluate::ReferenceCache::of_user() : std::nullopt;
  const auto progress = arguments.common.make_progress();
  auto [outcome, group, cached, transitions] =
      evaluate::find_reference(task, paths, static_cast<std::size_t>(arguments.n), arguments.common.seed,
                               arguments.settings, cache, arguments.common.parallel(), *progress);
  if (group) {
    // The series as they were given, with their times and what is missing in them.
    const auto observed = std::ranges::find(group->groups, "observed_data", &files::Group::name);
    if (observed != group->groups.end()) *observed = sample::observed_group(views);
    if (auto constant = sample::constant_group(views)) group->groups.push_back(std::move(*constant));
    simulate::PathSettings read = arguments.paths;
    read.step_length = simulate::step_length(views.front(), tasks::likelihood_steps(task.name), arguments.paths);
    group->attributes["paths"] = to_json(read).dump();
    files::write_netcdf(arguments.output, *group);
  }

  nlohmann::json report = {{"task", task.name}, {"outcome", std::string(name(outcome))},
                           {"cached", cached},  {"transitions", transitions},
                           {"n", arguments.n},  {"seconds", watch.seconds()}};
  if (group) {
    report["output"] = arguments.output;
    for (const char* key : {"method", "start", "evaluations"}) {
      if (group->attributes.contains(key)) report[key] = group->attributes.at(key);
    }
    for (const auto& variable : group->group("posterior").variables) {
      if (!variable.attributes.contains("r_hat")) continue;
      for (const char* key : {"r_hat", "bulk_ess", "tail_ess"}) {
        report["health"][variable.name][key] = variable.attributes.at(key);
      }
    }
  }
  if (arguments.common.json) {
    print_json(report);
  } else if (group && !arguments.common.quiet) {
    fmt::print("{}: {} draws from the exact posterior of {} transitions of {} ({}{})\n", arguments.output, arguments.n,
               transitions, task.name, report["method"].get<std::string>(), cached ? ", from the cache" : "");
  }
  return exit_code("catena reference", outcome);
}

}  // namespace

Verb reference_verb() {
  return {"reference", "draw from the exact posterior of a built-in task", [](CLI::App& app) -> Run {
            const auto arguments = std::make_shared<ReferenceArguments>();
            add_task_flags(app, arguments->task, /*with_plugin=*/false);
            app.add_option(
                   "--observation", arguments->observation,
                   "the series, a CSV file, one state a row; several files or a column `series`: several series")
                ->required()
                ->type_name("FILE");
            add_flag(app, arguments->n, "-n", "number of near-independent draws", at_least(1));
            app.add_option("-o,--output", arguments->output, "netCDF file to write")->required()->type_name("FILE");
            add_flag(app, arguments->cache, "--cache", "keep references in the user's cache directory", anything());
            add_flags(app, arguments->paths);
            add_flags(app, arguments->settings);
            add_common(app, arguments->common, Seeded::yes);
            return [arguments] { return run_reference(*arguments); };
          }};
}

}  // namespace catena::cli

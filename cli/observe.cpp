// catena observe: one test series of a task, with its true θ beside it.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "catena/core/version.h"
#include "catena/files/csv.h"
#include "catena/files/json.h"
#include "catena/tasks/observe.h"
#include "common.h"
#include "observation.h"
#include "task_flags.h"
#include "verb.h"

namespace catena::cli {

namespace {

constexpr std::string_view observe_function = "catena observe";

struct ObserveOptions {
  Common common;
  TaskFlags task;
  std::vector<double> theta;
  std::vector<std::string> covariates;
  int transitions = 10;
  double missing = 0;
  std::string output;
};

int run_observe(const ObserveOptions& options) {
  const tasks::Task task = chosen_task(observe_function, options.task);
  const std::filesystem::path output = options.output;
  std::filesystem::path truth = output;
  truth.replace_extension(".json");
  check::that(truth != output, observe_function, "--output", options.output,
              "no .json file: that one is for the true parameters");

  const std::vector<std::string>& covariate_names = task.simulator.covariate_names;
  const std::vector<Matrix> tables = read_covariates(observe_function, options.covariates, covariate_names);
  check::that(tables.size() <= 1, observe_function, "the number of tables of --covariates", tables.size(), "1");
  tasks::Observation observation = tasks::observe(observe_function, task, static_cast<std::size_t>(options.transitions),
                                                  options.common.seed, options.theta, tables);
  const std::size_t lost = tasks::lose_states(observation, task, options.missing, options.common.seed);
  const files::Series file{.names = task.simulator.state_names,
                           .values = observation.series,
                           .times = observation.times,
                           .covariate_names = covariate_names,
                           .covariates = observation.covariates};
  const nlohmann::json record = {{"catena_version", version()},        {"task", task.name},
                                 {"task_version", task.version},       {"options", task.options},
                                 {"transitions", options.transitions}, {"missing", lost},
                                 {"seed", options.common.seed},        {"parameters", task.prior.names()},
                                 {"theta", observation.theta},         {"z", observation.z}};
  files::write_json(truth, record);
  files::write_csv(output, file);
  if (options.common.json) {
    nlohmann::json result = record;
    result["output"] = options.output;
    result["truth"] = truth.string();
    print_json(result);
  } else if (!options.common.quiet) {
    fmt::print("{}: {} transitions of {}; true parameters in {}\n", options.output, options.transitions, task.name,
               truth.string());
  }
  return success;
}

Run set_up_observe(CLI::App& app) {
  const auto options = std::make_shared<ObserveOptions>();
  add_task_flags(app, options->task, /*with_plugin=*/true);
  add_flag(app, options->transitions, "--transitions",
           "length T of the series, which has T + 1 states (T + m for a chain of order m)", between(1, 100000000));
  add_flag(app, options->missing, "--missing", "share of the states that are left out of the file", between(0.0, 0.99));
  app.add_option("-o,--output", options->output, "CSV file to write; the true parameters go to the .json beside it")
      ->required()
      ->type_name("FILE");
  app.add_option("--covariates", options->covariates,
                 "CSV table of a simulator's covariates, a row for each step (default: the task's own)")
      ->type_name("FILE");
  app.add_option("--theta", options->theta, "the true parameters (default: drawn from the prior)")
      ->type_name("NUMBER")
      ->delimiter(',');
  add_common(app, options->common, Seeded::yes);
  return [options] { return run_observe(*options); };
}

}  // namespace

Verb observe_verb() { return {"observe", "simulate one series, with its true parameters beside it", set_up_observe}; }

}  // namespace catena::cli

// catena calibrate model.safetensors TASK --transitions 10 -o calibration.nc: are the model's posteriors calibrated?
// With --correct BUDGET: are they, corrected by so many simulated transitions each?

#include "catena/evaluate/calibrate.h"

#include <fmt/format.h>

#include <memory>

#include "catena/core/check.h"
#include "catena/core/stopwatch.h"
#include "catena/core/version.h"
#include "catena/sample/posterior.h"
#include "catena/simulate/dates.h"
#include "common.h"
#include "observation.h"
#include "sampler_flags.h"
#include "task_flags.h"
#include "verb.h"

namespace catena::cli {

namespace {

constexpr std::string_view calibrate_function = "catena calibrate";

struct CalibrateOptions {
  Common common;
  TaskFlags task;
  SamplerFlags settings;
  std::string model, output;
  std::vector<std::string> observation, covariates;
  simulate::PathSettings paths;
  int transitions = 10, series = 200, draws = 100, correct = 0;
};

void print(const nlohmann::json& summary, const std::string& output, double seconds) {
  fmt::print("{}: ranks of {} true parameters among {} draws each, in {:.1f} s\n", output,
             summary["series"].get<std::size_t>(), summary["draws"].get<std::size_t>(), seconds);
  const auto line = [](const std::string& name, const nlohmann::json& judged) {
    fmt::print("  {:<20} p = {:<8.3g} coverage {:+.3f} {}\n", name, judged["p_value"].get<double>(),
               judged["mean_excess"].get<double>(), judged["inside"].get<bool>() ? "" : "(not calibrated)");
  };
  for (const auto& [name, judged] : summary["parameters"].items()) line(name, judged);
  line("all together (TARP)", summary["tarp"]);
  for (const auto& [outcome, series] : summary["outcomes"].items()) {
    if (outcome != "ok" && series.get<std::size_t>() > 0) {
      fmt::print("  {} of the series: {}\n", series.get<std::size_t>(), outcome);
    }
  }
  if (!summary.contains("correction")) return;
  const nlohmann::json& correction = summary["correction"];
  fmt::print("  {:.0f} % of the series were corrected; alarms for {:.1f} % of the learned posteriors\n",
             100 * correction["corrected"].get<double>(), 100 * correction["alarms"].get<double>());
  for (const auto& [reason, series] : correction["not_corrected"].items()) {
    fmt::print("  {} not corrected: {}\n", series.get<std::size_t>(), reason);
  }
}

/// Series of --transitions, or with the times and gaps of the one that --observation names.
evaluate::KnownSeries known_series(const CalibrateOptions& options, const tasks::Task& task,
                                   const model::TrainedModel& model, const Streams& streams) {
  const auto count = static_cast<std::size_t>(options.series);
  std::vector<Matrix> tables = read_covariates(calibrate_function, options.covariates, task.simulator.covariate_names);
  if (options.observation.empty()) {
    return evaluate::known_series(calibrate_function, task, count, static_cast<std::size_t>(options.transitions),
                                  streams, tables);
  }
  std::vector<files::Series> given =
      read_observations(calibrate_function, options.observation, model.state_names, model.covariate_names);
  check::equal(calibrate_function, "the number of series of --observation", given.size(), std::size_t{1});
  const bool gaps = model.features.uses_step();
  simulate::number_dates(calibrate_function, given, options.paths, gaps || model.features.uses_time());
  const simulate::SeriesView series = simulate::view_of(given.front());
  const simulate::KnownSteps known{.low = 1, .high = gaps ? 2.0 : 1.0};
  const double step_length = simulate::step_length(series, known, options.paths);
  const std::vector<std::size_t> steps = evaluate::steps_of(calibrate_function, series, step_length);
  if (tables.empty() && series.covariates.cols > 0) {
    tables.push_back(evaluate::covariates_by_step(calibrate_function, series, step_length));
  }
  return evaluate::known_series(calibrate_function, task, count, steps, streams, tables);
}

int run_calibrate(const CalibrateOptions& options) {
  const Stopwatch watch;
  const model::TrainedModel model = model::read_model(options.model);
  const tasks::Task task = chosen_task(calibrate_function, options.task);
  if (task.prior.to_json() != model.prior.to_json()) {
    throw InputError(fmt::format("{}: the prior of {} is not that of {}, but must be", calibrate_function,
                                 options.model, task.name));
  }
  evaluate::CalibrationPlan plan{.draws = static_cast<std::size_t>(options.draws),
                                 .settings = options.settings.values(calibrate_function, model.method),
                                 .paths = options.paths};
  if (options.correct > 0) {
    plan.simulator = &task;
    plan.correction.budget = options.correct;
    check_config(calibrate_function, plan.correction);
  }
  const Streams streams(options.common.seed);
  const auto progress = options.common.make_progress();
  const evaluate::KnownSeries known = known_series(options, task, model, streams);
  if (!options.observation.empty()) plan.paths.step_length = 1;  // times are steps
  const evaluate::CalibrationResult result =
      evaluate::calibrate(model, known, plan, streams, options.common.parallel(), *progress);
  if (!options.common.writes()) return success;
  nlohmann::json summary = evaluate::summary(result, streams);

  files::Group group = evaluate::calibration_group(result);
  group.attributes = {{"catena_version", std::string(version())},
                      {"method", model.method},
                      {"model", options.model},
                      {"task", task.name},
                      {"transitions", options.transitions},
                      {"seed", options.common.seed},
                      {"correct", options.correct},
                      {"summary", summary.dump()}};
  files::write_netcdf(options.output, group);
  if (options.common.json) {
    summary["output"] = options.output;
    summary["seconds"] = watch.seconds();
    print_json(summary);
  } else if (!options.common.quiet) {
    print(summary, options.output, watch.seconds());
  }
  if (!summary["flagged"].get<bool>()) return success;
  fmt::print(stderr,
             "{}: {} of {} series are not ok, more than false alarms explain; look at their outcomes in {}, and at the "
             "networks by catena check\n",
             calibrate_function, summary["series_not_ok"].get<std::size_t>(), summary["series"].get<std::size_t>(),
             options.output);
  return not_achieved;
}

Run set_up_calibrate(CLI::App& app) {
  const auto options = std::make_shared<CalibrateOptions>();
  app.add_option("model", options->model, "trained model, from catena train")->required()->type_name("FILE");
  add_task_flags(app, options->task, /*with_plugin=*/true);
  add_flag(app, options->transitions, "--transitions", "length T of each series", between(1, 100000000));
  app.add_option("--observation", options->observation,
                 "a series, a CSV file, whose times and gaps the simulated ones shall have, in place of --transitions")
      ->type_name("FILE");
  app.add_option("--covariates", options->covariates,
                 "CSV table of the covariates, a row for each step (default: those of --observation, or the task's)")
      ->type_name("FILE");
  add_flags(app, options->paths);
  add_flag(app, options->series, "--series", "series to simulate, each with parameters from the prior",
           between(5, 1000000));
  add_flag(app, options->draws, "--draws", "draws from the posterior of each series", between(1, 1000000));
  add_flag(app, options->correct, "--correct",
           "correct each posterior by simulating so many transitions from its series; 0: do not", at_least(0));
  app.add_option("-o,--output", options->output, "netCDF file to write, for catena report")
      ->required()
      ->type_name("FILE");
  options->settings.add_to(app);
  add_rank_flags(app);
  add_common(app, options->common, Seeded::yes);
  return [options] { return run_calibrate(*options); };
}

}  // namespace

Verb calibrate_verb() {
  return {"calibrate", "compare true parameters with a model's posteriors", set_up_calibrate, /*on_ranks=*/true};
}

}  // namespace catena::cli

// catena predict posterior.nc -o predictive.nc: series that the simulator makes of draws from the posterior, on from
// the first observed state and one step ahead of each, for the report to lay beside the observed ones.

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

#include "catena/core/stopwatch.h"
#include "catena/core/version.h"
#include "catena/evaluate/predictive.h"
#include "catena/files/csv.h"
#include "catena/files/json.h"
#include "catena/sample/draws.h"
#include "catena/simulate/covariates.h"
#include "catena/simulate/dates.h"
#include "common.h"
#include "observation.h"
#include "task_flags.h"
#include "verb.h"

namespace catena::cli {

namespace {

constexpr std::string_view predict_function = "catena predict";

struct PredictOptions {
  Common common;
  TaskFlags task;
  std::string posterior, model, observation, output;
  std::vector<std::string> covariates;
  int n = 200, horizon = 0;
};

/// A part of the draws' record that is JSON; null if there is none.
nlohmann::json recorded(const std::string& file, const sample::Draws& draws, const char* attribute) {
  const auto found = draws.record.find(attribute);
  if (found == draws.record.end() || !found->second.is_string()) return nullptr;
  return files::parse_json(found->second.get<std::string>(), file);
}

/// What the draws were made with, as far as their file says: {"model": "sir", "options": {…}}, else null.
nlohmann::json simulator_of_draws(const std::string& file, const sample::Draws& draws) {
  for (const auto& [attribute, key] : {std::pair("transitions", "model"), std::pair("request", "task")}) {
    const nlohmann::json record = recorded(file, draws, attribute);
    if (!record.is_object() || !record.value(key, nlohmann::json()).is_string()) continue;
    return {{"model", record.at(key)}, {"options", record.value("options", nlohmann::json::object())}};
  }
  return nullptr;
}

/// What makes the next state, and whatever it needs to stay alive.
struct Source {
  std::optional<model::TrainedModel> trained;
  std::optional<model::DensityModel> density;
  simulate::Simulator simulator;
};

std::unique_ptr<Source> chosen_source(const PredictOptions& options, const sample::Draws& draws) {
  auto source = std::make_unique<Source>();
  if (!options.model.empty()) {
    if (!options.task.task.empty() || !options.task.plugin.empty()) {
      throw InputError(fmt::format("{}: --model is given beside a simulator, but only one can be", predict_function));
    }
    source->trained = model::read_model(options.model);
    check::that(source->trained->method == "fnle", predict_function, "the method of --model", source->trained->method,
                "fnle, whose density can be drawn from; else give the simulator");
    source->density.emplace(*source->trained);
    source->simulator = evaluate::surrogate_simulator(*source->density);
    return source;
  }
  if (!options.task.task.empty() || !options.task.plugin.empty()) {
    source->simulator = chosen_task(predict_function, options.task).simulator;
    return source;
  }
  const nlohmann::json named = simulator_of_draws(options.posterior, draws);
  const bool built_in = named.is_object() && tasks::registry().find(named.at("model").get<std::string>()) != nullptr;
  if (!built_in) {
    throw InputError(
        fmt::format("{}: {} names no built-in simulator, but one is needed: give TASK, --plugin, or --model with an "
                    "fnle model as its stand-in",
                    predict_function, options.posterior));
  }
  source->simulator = tasks::make_task(named.at("model").get<std::string>(), named.at("options")).simulator;
  return source;
}

/// `count` draws spread evenly over the finite ones of the file.
Matrix chosen_draws(const PredictOptions& options, const sample::Draws& given, const simulate::Simulator& simulator) {
  const sample::Draws draws = sample::in_order_of(simulator.parameter_names, given);
  std::vector<std::size_t> finite;
  for (std::size_t r = 0; r < draws.values.rows(); ++r) {
    if (std::ranges::all_of(draws.values.row(r), [](double v) { return std::isfinite(v); })) finite.push_back(r);
  }
  check::at_least(predict_function, "the number of finite draws", finite.size(), std::size_t{1});
  const std::size_t count = std::min(finite.size(), static_cast<std::size_t>(options.n));
  Matrix theta(count, draws.values.cols());
  for (std::size_t k = 0; k < count; ++k) {
    std::ranges::copy(draws.values.row(finite[k * finite.size() / count]), theta.row(k).begin());
  }
  return theta;
}

/// The one that is predicted: the first, if there are several.
files::Series observed_series(const PredictOptions& options, const sample::Draws& draws,
                              const simulate::Simulator& simulator) {
  if (!options.observation.empty()) {
    std::vector<files::Series> one{files::read_csv(options.observation)};
    if (simulator.covariates() > 0) {
      simulate::tell_columns_apart(predict_function, options.observation, simulator.state_names,
                                   simulator.covariate_names, one.front());
    }
    simulate::number_dates(predict_function, one, evaluate::recorded_paths(options.posterior, draws.record), false);
    return std::move(one.front());
  }
  if (draws.series.empty()) {
    throw InputError(fmt::format("{}: {} does not hold the observed series, but must: give --observation",
                                 predict_function, options.posterior));
  }
  return draws.series.front();
}

int run_predict(const PredictOptions& options) {
  const Stopwatch watch;
  const sample::Draws draws = sample::read_draws(options.posterior);
  const auto source = chosen_source(options, draws);
  const files::Series observed = observed_series(options, draws, source->simulator);
  const std::vector<Matrix> ahead =
      read_covariates(predict_function, options.covariates, source->simulator.covariate_names);
  check::that(ahead.size() <= 1, predict_function, "the number of tables of --covariates", ahead.size(), "1");
  const std::size_t more_series = options.observation.empty() ? draws.series.size() - 1 : 0;
  simulate::SeriesView seen = simulate::view_of(observed);
  if (observed.covariate_names != source->simulator.covariate_names) {
    const auto listed = [](const std::vector<std::string>& all) {
      return all.empty() ? std::string("none") : fmt::format("{}", fmt::join(all, ", "));
    };
    throw InputError(fmt::format("{}: the covariates of the series are {}, but must be those of the simulator, {}",
                                 predict_function, listed(observed.covariate_names),
                                 listed(source->simulator.covariate_names)));
  }
  seen.names = source->simulator.state_names;
  seen.covariate_names = source->simulator.covariate_names;
  const Matrix theta = chosen_draws(options, draws, source->simulator);
  const auto progress = options.common.make_progress();
  const evaluate::PredictiveSeries series =
      evaluate::predict(source->simulator, theta, seen,
                        {.step_length = evaluate::recorded_step_length(options.posterior, draws.record, seen),
                         .horizon = static_cast<std::size_t>(options.horizon),
                         .covariates = ahead.empty() ? ConstMatrixView() : ahead.front().view()},
                        Streams(options.common.seed).child("predict"), options.common.parallel(), *progress);

  files::Group file{.name = ""};
  file.groups = evaluate::predictive_groups(series, seen, source->simulator.state_names);
  file.groups.push_back(sample::observed_group({&seen, 1}));
  if (auto constant = sample::constant_group({&seen, 1})) file.groups.push_back(std::move(*constant));
  file.attributes = {{"catena_version", std::string(version())},
                     {"posterior", options.posterior},
                     {"simulator", source->simulator.name},
                     {"seed", options.common.seed}};
  files::write_netcdf(options.output, file);

  if (options.common.json) {
    print_json({{"output", options.output},
                {"draws", theta.rows()},
                {"transitions", observed.values.rows() - 1},
                {"horizon", options.horizon},
                {"more_series", more_series},
                {"simulator", source->simulator.name},
                {"seconds", watch.seconds()}});
  } else if (!options.common.quiet) {
    fmt::print(
        "{}: {} series of {} transitions by {}{}{}\n", options.output, theta.rows(), observed.values.rows() - 1,
        source->simulator.name,
        options.horizon == 0 ? "" : fmt::format(", and forecasts of {} steps from the last state", options.horizon),
        more_series == 0 ? "" : fmt::format(", on from the first of {} observed series", more_series + 1));
  }
  return success;
}

Run set_up_predict(CLI::App& app) {
  const auto options = std::make_shared<PredictOptions>();
  app.add_option("posterior", options->posterior, "draws, from catena sample or catena reference")
      ->required()
      ->type_name("FILE");
  add_task_flags(app, options->task, /*with_plugin=*/true);
  app.get_option("TASK")->description("a built-in simulator (default: the one that the draws were made with)");
  app.add_option("--model", options->model, "a trained model of the method fnle, as a stand-in for the simulator")
      ->type_name("FILE");
  app.add_option("--observation", options->observation, "the series, if the draws' file does not hold it")
      ->type_name("FILE");
  add_flag(app, options->n, "-n", "number of draws to simulate from", at_least(1));
  add_flag(app, options->horizon, "--horizon", "steps to forecast beyond the last observed state", between(0, 1000000));
  app.add_option("--covariates", options->covariates,
                 "CSV table of the covariates of the steps ahead, rows that follow those of the series")
      ->type_name("FILE");
  app.add_option("-o,--output", options->output, "netCDF file to write")->required()->type_name("FILE");
  add_common(app, options->common, Seeded::yes);
  return [options] { return run_predict(*options); };
}

}  // namespace

Verb predict_verb() { return {"predict", "simulate series from draws of a posterior", set_up_predict}; }

}  // namespace catena::cli

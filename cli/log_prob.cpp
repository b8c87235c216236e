// catena log-prob model.safetensors --observation series.csv --theta posterior.nc: the log density of parameters given
// a series, by a trained likelihood or ratio, up to one constant for all of them.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "catena/sample/draws.h"
#include "catena/sample/posterior.h"
#include "common.h"
#include "observation.h"
#include "verb.h"

namespace catena::cli {

namespace {

constexpr std::string_view log_prob_function = "catena log-prob";

struct LogProbOptions {
  Common common;
  ObservationFlags observation;
  std::string theta, output;
};

int run_log_prob(const LogProbOptions& options) {
  const Observed observed(log_prob_function, options.observation);
  const model::TrainedModel& model = observed.model();
  sample::Draws given = sample::read_draws(options.theta);
  const std::vector<std::string>& names = model.prior.names();
  check::that(given.parameters.empty() || std::ranges::is_permutation(given.parameters, names), log_prob_function,
              fmt::format("the list of parameters of {}", options.theta),
              fmt::format("{}", fmt::join(given.parameters, ", ")),
              fmt::format("that of the model, {}", fmt::join(names, ", ")));
  const sample::Draws draws = sample::in_order_of(names, std::move(given));
  const sample::PosteriorRequest request = observed.request();
  const std::vector<double> values = sample::posterior_log_prob(request, draws.values, options.common.parallel());

  if (!options.output.empty()) {
    files::Series table{.names = names, .values = Matrix(values.size(), draws.values.cols() + 1), .times = {}};
    table.names.emplace_back("log_prob");
    for (std::size_t r = 0; r < values.size(); ++r) {
      std::ranges::copy(draws.values.row(r), table.values.row(r).begin());
      table.values(r, draws.values.cols()) = values[r];
    }
    files::write_csv(options.output, table);
  }
  if (options.common.json) {
    nlohmann::json list = nlohmann::json::array();  // −∞, outside the prior, has no number in JSON: null
    for (const double value : values) list.push_back(std::isfinite(value) ? nlohmann::json(value) : nullptr);
    print_json({{"log_prob", list}, {"method", model.method}});
  } else if (!options.common.quiet && options.output.empty()) {
    for (const double value : values) fmt::print("{:.17g}\n", value);
  }
  return success;
}

Run set_up_log_prob(CLI::App& app) {
  const auto options = std::make_shared<LogProbOptions>();
  add_observation_flags(app, options->observation);
  app.add_option("--theta", options->theta, "parameters: CSV, one set a row, or draws in netCDF")
      ->required()
      ->type_name("FILE");
  app.add_option("-o,--output", options->output, "CSV file to write: the parameters and their log_prob")
      ->type_name("FILE");
  add_common(app, options->common, Seeded::no);
  return [options] { return run_log_prob(*options); };
}

}  // namespace

Verb log_prob_verb() { return {"log-prob", "log density of parameters given a series, unnormalised", set_up_log_prob}; }

}  // namespace catena::cli

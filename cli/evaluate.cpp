// catena evaluate A B: how much two sets of draws differ, by every metric of the registry or by those asked for.

#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "catena/evaluate/metric.h"
#include "catena/sample/draws.h"
#include "common.h"
#include "verb.h"

namespace catena::cli {

namespace {

using evaluate::Metric;
using sample::Draws;

struct EvaluateOptions {
  Common common;
  std::string a, b;
  std::string metrics;
};

std::vector<const Metric*> chosen_metrics(const std::string& list) {
  std::vector<const Metric*> chosen;
  if (list.empty()) {
    for (const Metric& metric : evaluate::metrics()) chosen.push_back(&metric);
  }
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    chosen.push_back(&evaluate::metrics().at("catena evaluate", name));
  }
  return chosen;
}

/// An array with one number per parameter becomes an object with the parameters' names.
nlohmann::json with_names(const nlohmann::json& value, const std::vector<std::string>& parameters) {
  if (!value.is_array()) return value;
  nlohmann::json object = nlohmann::json::object();
  for (std::size_t i = 0; i < value.size(); ++i) {
    object[parameters.empty() ? fmt::format("x{}", i) : parameters[i]] = value[i];
  }
  return object;
}

int run_evaluate(const EvaluateOptions& options) {
  const std::vector<const Metric*> chosen = chosen_metrics(options.metrics);
  const Draws a = sample::read_draws(options.a);
  const Draws b = sample::in_order_of(a.parameters, sample::read_draws(options.b));
  const std::vector<std::string>& parameters = a.parameters.empty() ? b.parameters : a.parameters;
  const Streams streams(options.common.seed);
  const Parallel parallel = options.common.parallel();

  nlohmann::json result = nlohmann::json::object();
  const auto progress = options.common.make_progress();
  progress->start("evaluate", "metrics", chosen.size());
  for (const Metric* metric : chosen) {
    const nlohmann::json value = metric->compute(a.values, b.values, streams, parallel);
    result[std::string(metric->name)] = with_names(value, parameters);
    progress->advance(1);
  }
  progress->finish();

  if (options.common.json) {
    print_json(result);
    return success;
  }
  for (const Metric* metric : chosen) {
    const nlohmann::json& value = result[std::string(metric->name)];
    if (!value.is_object()) {
      fmt::print("{:<28} {:>10.4f}  {}\n", metric->name, value.get<double>(), metric->help);
      continue;
    }
    fmt::print("{:<28} {:>10}  {}\n", metric->name, "", metric->help);
    for (const auto& [parameter, number] : value.items()) {
      fmt::print("  {:<26} {:>10.4f}\n", parameter, number.get<double>());
    }
  }
  return success;
}

Run set_up_evaluate(CLI::App& app) {
  const auto options = std::make_shared<EvaluateOptions>();
  app.add_option("A", options->a, "draws to judge: netCDF with ArviZ's group `posterior`, or CSV with a draw a row")
      ->required();
  app.add_option("B", options->b, "draws of the reference")->required();
  add_flag(app, options->metrics, "--metrics", "names of metrics with commas between them; without it all", anything());
  add_common(app, options->common, Seeded::yes);
  std::string footer = "Metrics:\n";
  for (const Metric& metric : evaluate::metrics()) footer += fmt::format("  {:<24}{}\n", metric.name, metric.help);
  app.footer(footer);
  return [options] { return run_evaluate(*options); };
}

}  // namespace

Verb evaluate_verb() { return {"evaluate", "measure how much two sets of draws differ", set_up_evaluate}; }

}  // namespace catena::cli

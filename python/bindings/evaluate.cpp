// Metrics between two sets of draws, and calibration.

#include "binding.h"
#include "catena/core/errors.h"
#include "catena/core/parallel.h"
#include "catena/core/random.h"
#include "catena/evaluate/calibrate.h"
#include "catena/evaluate/metric.h"
#include "catena/evaluate/predictive.h"
#include "catena/sample/draws.h"

namespace catena::python {
namespace {

std::string evaluate_draws(const Rows& a, const Rows& b, const std::vector<std::string>& metrics, std::uint64_t seed,
                           int threads) {
  nlohmann::json result = nlohmann::json::object();
  run(false, [&](Progress& progress) {
    const Streams streams(seed);
    const Parallel parallel(threads);
    for (const std::string& name : metrics) {
      result[name] = evaluate::metrics().at("evaluate", name).compute(view(a), view(b), streams, parallel);
      progress.advance(1);
    }
  });
  return text(result);
}

/// `series`, and `times` where the model uses them, are those that row after row of `theta` made.
nb::dict calibrate(const model::TrainedModel& model, const Rows& theta, const std::vector<Rows>& series,
                   const std::vector<Numbers>& times, const std::vector<Rows>& covariates, std::size_t draws,
                   const std::string& settings, std::uint64_t seed, int threads, bool show_progress,
                   const std::string& path, const std::string& attributes, const std::string& paths) {
  const auto chosen_paths = from_json<simulate::PathSettings>("calibrate", parse(paths));
  evaluate::KnownSeries known{copy(theta), {}, {}};
  for (const Rows& one : series) known.series.push_back(copy(one));
  for (const Numbers& one : times) known.times.emplace_back(span(one).begin(), span(one).end());
  for (const Rows& one : covariates) known.covariates.push_back(copy(one));
  const nlohmann::json chosen = parse(settings), record = parse(attributes);
  evaluate::CalibrationResult result;
  nlohmann::json summary;
  run(show_progress, [&](Progress& progress) {
    const Streams streams(seed);
    result = evaluate::calibrate(model, known, {.draws = draws, .settings = chosen, .paths = chosen_paths}, streams,
                                 Parallel(threads), progress);
    summary = evaluate::summary(result, streams);
    if (path.empty()) return;
    files::Group group = evaluate::calibration_group(result);
    for (const auto& [key, value] : record.items()) group.attributes[key] = value;
    group.attributes["summary"] = summary.dump();
    files::write_netcdf(path, group);
  });
  Matrix ranks(result.ranks.size(), result.tarp.values.size());
  for (std::size_t p = 0; p < ranks.rows(); ++p) {
    std::ranges::transform(result.ranks[p].values, ranks.row(p).begin(),
                           [](std::size_t rank) { return static_cast<double>(rank); });
  }
  nb::dict answer;
  answer["summary"] = text(summary);
  answer["ranks"] = to_numpy(std::move(ranks));
  answer["tarp"] = to_numpy(std::vector<double>(result.tarp.values.begin(), result.tarp.values.end()));
  return answer;
}

/// With rows at these steps of the simulator, the first of which is 0.
nb::dict known_series(const tasks::Task& task, std::size_t count, const std::vector<std::size_t>& steps,
                      std::uint64_t seed, const std::vector<Rows>& tables) {
  evaluate::KnownSeries known;
  std::vector<Matrix> given;
  for (const Rows& table : tables) given.push_back(copy(table));
  {
    const nb::gil_scoped_release release;
    known = evaluate::known_series("calibrate", task, count, steps, Streams(seed), given);
  }
  nb::list series, times, covariates;
  for (Matrix& one : known.covariates) covariates.append(to_numpy(std::move(one)));
  for (Matrix& one : known.series) series.append(to_numpy(std::move(one)));
  for (std::vector<double>& one : known.times) times.append(to_numpy(std::move(one)));
  nb::dict result;
  result["theta"] = to_numpy(std::move(known.theta));
  result["series"] = series;
  result["times"] = times;
  result["covariates"] = covariates;
  return result;
}

using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

/// [draw, row, state] of one matrix a draw.
Array cube(std::vector<Matrix>&& series, std::size_t rows, std::size_t states) {
  auto values = std::make_unique<std::vector<double>>();
  values->reserve(series.size() * rows * states);
  for (const Matrix& one : series) values->insert(values->end(), one.values().begin(), one.values().end());
  const std::size_t draws = series.size();
  double* data = values->data();
  const nb::capsule owner(values.release(), [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return Array(data, {draws, rows, states}, owner);
}

std::vector<Matrix> matrices(const Cube& cube) {
  std::vector<Matrix> all;
  for (std::size_t k = 0; k < cube.shape(0); ++k) {
    Matrix& one = all.emplace_back(cube.shape(1), cube.shape(2));
    std::copy_n(cube.data() + k * one.values().size(), one.values().size(), one.data());
  }
  return all;
}

/// One `series`, which may be missing in parts; `starts` has no rows where it begins in the observed states.
nb::dict predict(const simulate::Model& model, const Rows& theta, const Rows& series, const Numbers& times,
                 const Rows& covariates, double step_length, std::size_t horizon, const Rows& starts, const Rows& ahead,
                 std::uint64_t seed, int threads, bool show_progress) {
  evaluate::PredictiveSeries found;
  run(show_progress, [&](Progress& progress) {
    simulate::Simulator watched =
        model.simulator;  // one of Python's may take its time: a stop is seen before each batch
    watched.step = [&](const simulate::StepInput& input, Stream& stream, StateBlock next) {
      if (progress.stop_requested()) throw Interrupted();
      model.simulator.step(input, stream, next);
    };
    const evaluate::PredictionPlan plan{step_length, horizon, starts.shape(0) > 0 ? view(starts) : ConstMatrixView{},
                                        view(ahead)};
    const simulate::SeriesView seen{.states = view(series), .times = span(times), .covariates = view(covariates)};
    found = evaluate::predict(watched, view(theta), seen, plan, Streams(seed).child("predict"), Parallel(threads),
                              progress);
  });
  const std::size_t rows = series.shape(0), states = series.shape(1);
  nb::dict result;
  result["run"] = cube(std::move(found.run), rows, states);
  result["one_step"] = cube(std::move(found.one_step), rows, states);
  result["forecast"] = cube(std::move(found.forecast), horizon, states);
  result["forecast_times"] = to_numpy(std::move(found.forecast_times));
  return result;
}

void write_predictive(const std::string& path, const std::vector<std::string>& state_names, const Cube& run_on,
                      const Cube& one_step, const Cube& forecast, const Rows& series, const Numbers& times,
                      const Rows& covariates, const Numbers& forecast_times, const std::string& calendar,
                      const std::string& record, const std::vector<std::string>& covariate_names) {
  evaluate::PredictiveSeries found{matrices(run_on),
                                   matrices(one_step),
                                   matrices(forecast),
                                   {span(forecast_times).begin(), span(forecast_times).end()}};
  simulate::SeriesView observed{view(series), span(times), state_names};
  if (!calendar.empty()) observed.calendar = calendar_from("predict", parse(calendar));
  observed.covariates = view(covariates);
  observed.covariate_names = covariate_names;
  files::Group file{.name = ""};
  file.groups = evaluate::predictive_groups(found, observed, state_names);
  file.groups.push_back(sample::observed_group({&observed, 1}));
  if (auto constant = sample::constant_group({&observed, 1})) file.groups.push_back(std::move(*constant));
  const nlohmann::json parsed = parse(record);
  for (const auto& [key, value] : parsed.items()) file.attributes[key] = value;
  const nb::gil_scoped_release release;
  files::write_netcdf(path, file);
}

double recorded_step_length(const std::string& record, const Rows& series, const Numbers& times) {
  files::Attributes attributes;
  const nlohmann::json parsed = parse(record);
  for (const auto& [key, value] : parsed.items()) attributes[key] = value;
  return evaluate::recorded_step_length("predict", attributes, {view(series), span(times)});
}

}  // namespace

void bind_evaluate(nb::module_& m) {
  m.def("evaluate", &evaluate_draws, "a"_a, "b"_a, "metrics"_a, "seed"_a, "threads"_a);
  m.def("calibrate", &calibrate, "model"_a, "theta"_a, "series"_a, "times"_a, "covariates"_a, "draws"_a, "settings"_a,
        "seed"_a, "threads"_a, "show_progress"_a, "path"_a, "attributes"_a, "paths"_a);
  m.def("known_series", &known_series, "task"_a, "count"_a, "steps"_a, "seed"_a, "covariates"_a);
  m.def("predict", &predict, "simulator"_a, "theta"_a, "series"_a, "times"_a, "covariates"_a, "step_length"_a,
        "horizon"_a, "starts"_a, "ahead"_a, "seed"_a, "threads"_a, "show_progress"_a);
  m.def("write_predictive", &write_predictive, "path"_a, "state_names"_a, "run"_a, "one_step"_a, "forecast"_a,
        "series"_a, "times"_a, "covariates"_a, "forecast_times"_a, "calendar"_a, "record"_a, "covariate_names"_a);
  m.def("step_length", &recorded_step_length, "record"_a, "series"_a, "times"_a);
  m.def("metrics", [] {
    nlohmann::json list = nlohmann::json::array();
    for (const evaluate::Metric& metric : evaluate::metrics()) {
      list.push_back({{"name", metric.name}, {"help", metric.help}});
    }
    return text(list);
  });
}

}  // namespace catena::python

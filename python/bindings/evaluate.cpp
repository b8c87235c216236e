// Metrics between two sets of draws, and calibration.

#include "binding.h"
#include "catena/core/parallel.h"
#include "catena/core/random.h"
#include "catena/evaluate/calibrate.h"
#include "catena/evaluate/metric.h"

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
                   const std::vector<Numbers>& times, std::size_t draws, const std::string& settings,
                   std::uint64_t seed, int threads, bool show_progress, const std::string& path,
                   const std::string& attributes) {
  evaluate::KnownSeries known{copy(theta), {}, {}};
  for (const Rows& one : series) known.series.push_back(copy(one));
  for (const Numbers& one : times) known.times.emplace_back(span(one).begin(), span(one).end());
  const nlohmann::json chosen = parse(settings), record = parse(attributes);
  evaluate::CalibrationResult result;
  nlohmann::json summary;
  run(show_progress, [&](Progress& progress) {
    const Streams streams(seed);
    result =
        evaluate::calibrate(model, known, {.draws = draws, .settings = chosen}, streams, Parallel(threads), progress);
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

nb::dict known_series(const tasks::Task& task, std::size_t count, std::size_t transitions, std::uint64_t seed) {
  evaluate::KnownSeries known;
  {
    const nb::gil_scoped_release release;
    known = evaluate::known_series("calibrate", task, count, transitions, Streams(seed));
  }
  nb::list series, times;
  for (Matrix& one : known.series) series.append(to_numpy(std::move(one)));
  for (std::vector<double>& one : known.times) times.append(to_numpy(std::move(one)));
  nb::dict result;
  result["theta"] = to_numpy(std::move(known.theta));
  result["series"] = series;
  result["times"] = times;
  return result;
}

}  // namespace

void bind_evaluate(nb::module_& m) {
  m.def("evaluate", &evaluate_draws, "a"_a, "b"_a, "metrics"_a, "seed"_a, "threads"_a);
  m.def("calibrate", &calibrate, "model"_a, "theta"_a, "series"_a, "times"_a, "draws"_a, "settings"_a, "seed"_a,
        "threads"_a, "show_progress"_a, "path"_a, "attributes"_a);
  m.def("known_series", &known_series, "task"_a, "count"_a, "transitions"_a, "seed"_a);
  m.def("metrics", [] {
    nlohmann::json list = nlohmann::json::array();
    for (const evaluate::Metric& metric : evaluate::metrics()) {
      list.push_back({{"name", metric.name}, {"help", metric.help}});
    }
    return text(list);
  });
}

}  // namespace catena::python

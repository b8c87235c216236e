#include "catena/experiment/estimate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "catena/core/random.h"
#include "catena/core/stopwatch.h"
#include "catena/evaluate/metric.h"
#include "catena/tasks/task.h"

namespace catena::experiment {
namespace {

constexpr const char *train_column = "train_seconds", *sample_column = "sample_seconds",
                     *correct_column = "correct_seconds";

/// What a row may be filed under in other sweeps: its label, and the method's own name where nothing was changed.
std::vector<std::string> names_of(const RowPlan& plan, const nlohmann::json& settings) {
  std::vector<std::string> names{plan.row.method};
  const SweepMethod& method = *plan.unit.method;
  if (!method.exact_scores && settings.empty() && method.rounds == 1 && !plan.amount) names.push_back(method.method);
  return names;
}

/// Two sets of normal draws compared, for as many draws and dimensions as the row has.
double measured_comparison(const Sweep& sweep, const RowPlan& plan, const Parallel& parallel) {
  const std::size_t d = tasks::make_task(plan.unit.entry->name, plan.unit.entry->options).prior.size();
  Matrix first(sweep.draws, d), second(sweep.draws, d);
  for (std::size_t r = 0; r < sweep.draws; ++r) {
    Stream stream = Streams(0).stream("estimate", r);
    for (std::size_t i = 0; i < d; ++i) first(r, i) = stream.normal(), second(r, i) = stream.normal();
  }
  static std::map<std::string, double> measured;  // once is enough
  double& seconds = measured[fmt::format("{} {} {}", sweep.draws, d, fmt::join(sweep.metrics, " "))];
  if (seconds > 0) return seconds;
  const Stopwatch watch;
  for (const std::string& name : sweep.metrics) {
    static_cast<void>(evaluate::metrics().at("experiment", name).compute(first, second, Streams(0), parallel));
  }
  return seconds = watch.seconds();
}

}  // namespace

RowSeconds::RowSeconds(const std::vector<Row>& rows) {
  for (const Row& row : rows) add(row);
}

void RowSeconds::add(const Row& row) {
  if (row.failed()) return;
  const std::string budget = fmt::to_string(row.budget), T = fmt::to_string(row.transitions);
  if (const auto found = row.values.find(train_column); found != row.values.end()) {
    put({train_column, row.method, budget, row.task}, found->second);
    put({train_column, row.method, budget}, found->second);
  }
  const auto drawn = row.values.find(sample_column);
  if (drawn == row.values.end()) return;
  const auto corrected = row.values.find(correct_column);
  const double seconds = drawn->second + (corrected == row.values.end() ? 0 : corrected->second);
  put({sample_column, row.method, T, budget, row.task}, seconds);
  put({sample_column, row.method, T, budget}, seconds);
  put({sample_column, row.method, T}, seconds);
  lengths_[row.method].insert(row.transitions);
}

std::optional<double> RowSeconds::training(const RowPlan& plan) const {
  if (plan.unit.method->exact_scores) return 0;
  const std::string budget = fmt::to_string(plan.row.budget);
  for (const std::string& name : names_of(plan, plan.unit.method->train)) {
    if (const auto same = mean({train_column, name, budget, plan.row.task})) return same;
    if (const auto others = mean({train_column, name, budget})) return others;
  }
  return std::nullopt;
}

std::optional<double> RowSeconds::drawing(const RowPlan& plan) const {
  const std::string budget = fmt::to_string(plan.row.budget), T = fmt::to_string(plan.row.transitions);
  for (const std::string& name : names_of(plan, plan.unit.method->sample)) {
    if (const auto same = mean({sample_column, name, T, budget, plan.row.task})) return same;
    if (const auto others = mean({sample_column, name, T, budget})) return others;
    if (const auto any = mean({sample_column, name, T})) return any;
    if (const auto nearest = at_the_nearest_length(name, plan.row.transitions)) return nearest;
  }
  return std::nullopt;
}

std::optional<double> RowSeconds::mean(const Key& key) const {
  const auto found = means_.find(key);
  if (found == means_.end()) return std::nullopt;
  return found->second.sum / static_cast<double>(found->second.n);
}

void RowSeconds::put(const Key& key, double seconds) {
  means_[key].sum += seconds;
  ++means_[key].n;
}

std::optional<double> RowSeconds::at_the_nearest_length(const std::string& method, std::size_t transitions) const {
  const auto found = lengths_.find(method);
  if (found == lengths_.end()) return std::nullopt;
  const auto distance = [&](std::size_t length) {
    return std::abs(std::log(static_cast<double>(length)) - std::log(static_cast<double>(transitions)));
  };
  const std::size_t nearest = *std::ranges::min_element(found->second, {}, distance);
  const double factor = std::max(1.0, static_cast<double>(transitions) / static_cast<double>(nearest));
  return factor * *mean({sample_column, method, fmt::to_string(nearest)});
}

void Estimate::operator+=(const Estimate& other) {
  rows += other.rows;
  models += other.models;
  seconds += other.seconds;
  compare_seconds = std::max(compare_seconds, other.compare_seconds);
  for (const auto& [method, n] : other.unknown) unknown[method] += n;
}

Estimate estimate(const Sweep& sweep, const std::vector<RowPlan>& missing, const RowSeconds& seconds,
                  const std::filesystem::path& directory, const Parallel& parallel) {
  Estimate result;
  if (missing.empty()) return result;
  result.compare_seconds = measured_comparison(sweep, missing.front(), parallel);
  std::set<std::string> models;
  for (const RowPlan& plan : missing) {
    ++result.rows;
    const std::optional<double> training = seconds.training(plan), drawing = seconds.drawing(plan);
    if (!training || !drawing) {
      ++result.unknown[plan.row.method];
      continue;
    }
    result.seconds += *drawing + result.compare_seconds;
    const std::string name = model_name(sweep, plan.unit, plan.to_learn(), 0);
    const bool there = std::filesystem::exists(directory / "models" / (name + ".safetensors"));
    if (plan.unit.method->exact_scores || there || !models.insert(name).second) continue;
    ++result.models;
    result.seconds += *training;
  }
  return result;
}

std::string in_words(const Estimate& estimate) {
  if (estimate.rows == 0) return "nothing is missing";
  constexpr std::size_t most_named = 4;
  std::size_t unknown = 0, named = 0;
  std::string methods;
  for (const auto& [method, n] : estimate.unknown) {
    unknown += n;
    if (++named <= most_named) methods += fmt::format("{}{}", methods.empty() ? "" : ", ", method);
  }
  if (named > most_named) methods += fmt::format(" and {} others", named - most_named);
  const std::size_t known = estimate.rows - unknown;
  std::string text = fmt::format("{} missing", estimate.rows);
  if (known > 0) {
    text +=
        fmt::format(", {}about {}", unknown > 0 ? fmt::format("{} of them ", known) : "", duration(estimate.seconds));
  }
  if (unknown > 0) {
    text += fmt::format("{} no row of {} yet to go by", known > 0 ? fmt::format("; for {}", unknown) : ",", methods);
  }
  return text;
}

std::string basis(const Estimate& estimate) {
  return fmt::format(
      "estimates: seconds of the rows that are there, on one thread, and {:.1f} s measured now for each comparison of "
      "draws; exact references that are not in the cache come on top",
      estimate.compare_seconds);
}

std::string duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace catena::experiment

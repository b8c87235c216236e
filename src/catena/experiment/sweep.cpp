#include "catena/experiment/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/evaluate/metric.h"
#include "catena/experiment/exact_scores.h"
#include "catena/sample/correct/correct.h"
#include "catena/sample/posterior.h"
#include "catena/simulate/records/record_plan.h"
#include "catena/tasks/likelihood.h"
#include "catena/tasks/task.h"
#include "catena/train/recipe.h"

namespace catena::experiment {
namespace {

/// Labels are cells of a CSV file and parts of file names.
void check_label(const std::string& label) {
  const bool plain = !label.empty() && label.size() <= 100 && std::ranges::none_of(label, [](unsigned char c) {
    return c < ' ' || c == ',' || c == '"' || c == '/' || c == '\\';
  });
  check::that(plain, "experiment", "label", fmt::format("\"{}\"", label), "text without commas, quotes and slashes");
}

void refuse_others(const std::string& source, const char* what, const nlohmann::json& entry,
                   const std::vector<std::string>& fields) {
  for (const auto& [name, value] : entry.items()) {
    if (std::ranges::find(fields, name) == fields.end()) {
      throw InputError(fmt::format("{}: {} of a sweep has no field \"{}\"", source, what, name));
    }
  }
}

constexpr const char *of_budget = "budget", *of_transition = "per_transition", *of_share = "share";

SweepCorrection correction_from(const nlohmann::json& entry) {
  SweepCorrection correction;
  for (const auto& [name, value] : entry.items()) {
    if (name == of_budget || name == of_transition || name == of_share) {
      check::that(correction.of.empty(), "experiment", "correct", entry.dump(), "of one kind of amounts");
      correction.of = name;
      correction.amounts = value.get<std::vector<double>>();
    } else {
      correction.settings[name] = value;
    }
  }
  check::that(!correction.amounts.empty(), "experiment", "correct", entry.dump(),
              "a list of amounts, budget, per_transition or share");
  for (const double amount : correction.amounts) {
    const bool of_all = correction.of == of_share;
    check::that(amount > 0 && (of_all ? amount < 1 : amount <= 1e9), "experiment", correction.of, amount,
                of_all ? "between 0 and 1" : "positive and at most 1e9");
  }
  static_cast<void>(from_json<sample::CorrectionSettings>("experiment", correction.settings));
  return correction;
}

/// Exact scores leave nothing to be learned, and are known for single series of some tasks.
void check_exact(const Sweep& sweep, const SweepMethod& method) {
  check::that(method.method == "fnse", "experiment", "method", method.method, "fnse with exact scores");
  check::that(method.train.empty() && method.rounds == 1 && !method.correct && !method.sample.contains("preset"),
              "experiment", "label", method.label, "a method of exact scores, which has settings of `sample` alone");
  for (const SweepTask& task : sweep.tasks) {
    const bool plain = task.records == SweepTask{}.records && task.missing == 0 && task.series == 1;
    check::that(plain && std::ranges::find(tasks_with_exact_scores(), task.name) != tasks_with_exact_scores().end(),
                "experiment", "task", task.label,
                fmt::format("{} in one series without gaps, where scores are exact",
                            fmt::join(tasks_with_exact_scores(), " or ")));
  }
}

}  // namespace

std::uint64_t SweepCorrection::left_to_learn(double amount, std::uint64_t budget) const {
  return of == of_share ? budget - to_simulate(amount, budget, 0) : budget;
}

std::uint64_t SweepCorrection::to_simulate(double amount, std::uint64_t budget, std::size_t observed) const {
  const double unit = of == of_share    ? static_cast<double>(budget)
                      : of == of_budget ? 1
                                        : static_cast<double>(observed);
  return static_cast<std::uint64_t>(std::llround(amount * unit));
}

std::string SweepCorrection::suffix(double amount) const {
  return fmt::format(" + {}{}", amount, of == of_share ? " of it" : of == of_budget ? "" : " T");
}

nlohmann::json Sweep::to_json() const {
  nlohmann::json json = {{"budgets", budgets},
                         {"transitions", transitions},
                         {"observations", observations},
                         {"first_observation", first_observation},
                         {"seeds", seeds},
                         {"draws", draws},
                         {"proposal", proposal},
                         {"metrics", metrics}};
  for (const SweepTask& task : tasks) {
    nlohmann::json entry = {{"name", task.name}, {"options", task.options}};
    const SweepTask plain;
    if (task.label != task.name) entry["label"] = task.label;
    if (task.records != plain.records) entry["records"] = task.records;
    if (task.missing > 0) entry["missing"] = task.missing;
    if (task.series > 1) entry["series"] = task.series;
    if (!task.transitions.empty()) entry["transitions"] = task.transitions;
    json["tasks"].push_back(std::move(entry));
  }
  for (const SweepMethod& method : methods) {
    json["methods"].push_back(
        {{"label", method.label}, {"method", method.method}, {"train", method.train}, {"sample", method.sample}});
    if (method.rounds > 1) json["methods"].back()["rounds"] = method.rounds;
    if (method.exact_scores) json["methods"].back()["scores"] = "exact";
    if (train::methods().at("experiment", method.method).whole_series) json["methods"].back()["series"] = method.series;
    if (method.correct) {
      json["methods"].back()["correct"] = method.correct->settings;
      json["methods"].back()["correct"][method.correct->of] = method.correct->amounts;
    }
  }
  return json;
}

Sweep Sweep::from_json(const std::string& source, const nlohmann::json& json) {
  Sweep sweep;
  const auto known = sweep.to_json();
  try {
    for (const auto& [name, value] : json.items()) {
      if (name != "tasks" && name != "methods" && name != "preset" && !known.contains(name)) {
        throw InputError(fmt::format("{}: a sweep has no field \"{}\"", source, name));
      }
    }
    for (const auto& task : json.at("tasks")) {
      refuse_others(source, "a task", task,
                    {"name", "label", "options", "records", "missing", "series", "transitions"});
      SweepTask entry;
      entry.name = task.at("name").get<std::string>();
      entry.label = task.value("label", entry.name);
      entry.options = task.value("options", entry.options);
      entry.records = task.value("records", entry.records);
      entry.missing = task.value("missing", entry.missing);
      entry.series = task.value("series", entry.series);
      entry.transitions = task.value("transitions", entry.transitions);
      sweep.tasks.push_back(std::move(entry));
    }
    for (const auto& method : json.at("methods")) {
      refuse_others(source, "a method", method,
                    {"method", "label", "train", "sample", "rounds", "correct", "preset", "series", "scores"});
      const auto name = method.at("method").get<std::string>();
      // A preset is one for both, unless train or sample has its own.
      nlohmann::json preset = nlohmann::json::object();
      if (json.contains("preset")) preset["preset"] = json["preset"];
      if (method.contains("preset")) preset["preset"] = method["preset"];
      nlohmann::json train = preset, sample = preset;
      train.update(method.value("train", nlohmann::json::object()));
      sample.update(method.value("sample", nlohmann::json::object()));
      sweep.methods.push_back(
          {method.value("label", name), name, std::move(train), std::move(sample), method.value("rounds", 1)});
      sweep.methods.back().series = method.value("series", sweep.methods.back().series);
      if (method.contains("scores")) {
        const auto scores = method["scores"].get<std::string>();
        check::that(scores == "exact", "experiment", "scores", scores, "exact, or left out");
        sweep.methods.back().exact_scores = true;
      }
      if (method.contains("correct")) sweep.methods.back().correct = correction_from(method["correct"]);
    }
    sweep.budgets = json.value("budgets", sweep.budgets);
    sweep.transitions = json.value("transitions", sweep.transitions);
    sweep.observations = json.value("observations", sweep.observations);
    sweep.first_observation = json.value("first_observation", sweep.first_observation);
    sweep.seeds = json.value("seeds", sweep.seeds);
    sweep.draws = json.value("draws", sweep.draws);
    sweep.proposal = json.value("proposal", sweep.proposal);
    sweep.metrics = json.value("metrics", sweep.metrics);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: is no sweep ({})", source, error.what()));
  }
  for (const SweepTask& task : sweep.tasks) {
    check_label(task.label);
    static_cast<void>(tasks::make_task(task.name, task.options));
    check::that(tasks::has_likelihood(task.name), "experiment", "task", task.name, "one with an exact reference");
    check::that(task.records.is_array() && !task.records.empty(), "experiment", "records", task.records.dump(),
                "a list of at least one");
    for (const auto& record : task.records) static_cast<void>(simulate::record_plan("experiment", record));
    check::that(task.missing >= 0 && task.missing < 1, "experiment", "missing", task.missing, "at least 0 and below 1");
    check::that(task.series >= 1 && task.series <= 1000, "experiment", "series", task.series, "between 1 and 1000");
  }
  for (const SweepMethod& method : sweep.methods) {
    check_label(method.label);
    const train::Method& entry = train::methods().at("experiment", method.method);
    static_cast<void>(train::recipe_of("experiment", entry, method.train, 10000));
    static_cast<void>(sample::sampler_settings("experiment", method.method, method.sample));
    check::that(method.rounds == 1 || method.rounds == 2, "experiment", "rounds", method.rounds, "1 or 2");
    check::at_least("experiment", "series", method.series, std::size_t{1});
    check::that(!entry.whole_series || (method.rounds == 1 && !method.correct), "experiment", "method", method.method,
                "one that learns from single transitions, for rounds and corrections");
    check::that(method.rounds == 1 || !method.correct, "experiment", "rounds", method.rounds, "1 with a correction");
    if (method.exact_scores) check_exact(sweep, method);
    for (const SweepTask& task : sweep.tasks) {
      check::that(!entry.whole_series || task.records == SweepTask{}.records, "experiment", "method", method.method,
                  "one that learns from single transitions, for tasks with records of their own");
      check::that(method.rounds == 1 || task.records == SweepTask{}.records, "experiment", "rounds", method.rounds,
                  "1 for tasks with records of their own");
    }
  }
  for (const std::string& metric : sweep.metrics) static_cast<void>(evaluate::metrics().at("experiment", metric));
  const std::size_t smallest = std::min({sweep.tasks.size(), sweep.methods.size(), sweep.budgets.size(),
                                         sweep.transitions.size(), sweep.seeds.size(), sweep.metrics.size()});
  check::at_least("experiment", "the length of each list of the sweep", smallest, std::size_t{1});
  check::at_least("experiment", "observations", sweep.observations, std::size_t{1});
  return sweep;
}

}  // namespace catena::experiment

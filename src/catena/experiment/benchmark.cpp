#include "catena/experiment/benchmark.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "catena/core/errors.h"
#include "catena/core/stopwatch.h"
#include "catena/evaluate/metric.h"
#include "catena/experiment/reference_draws.h"
#include "catena/files/json.h"
#include "catena/prior/special.h"
#include "catena/sample/around_posterior.h"
#include "catena/sample/correct/correct.h"
#include "catena/sample/posterior.h"
#include "catena/simulate/record_plan.h"
#include "catena/simulate/transitions.h"
#include "catena/tasks/observe.h"
#include "catena/train/joined_sets.h"
#include "catena/train/recipe.h"

namespace catena::experiment {
namespace {

namespace fs = std::filesystem;

/// A second round is so many times as wide as the posterior of the first.
constexpr double widen = 2;

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// What no correction by M transitions can be better than, on average: its mean is off by √(pT/M) of the posterior's
/// deviations in each of d directions, p = 1 + d/4 (docs/theory/correction.md).
double statistical_limit(double d, double T, double M) {
  return prior::normal_lower(0.5 * std::sqrt(d * (1 + d / 4) * T / M));
}

/// Several sweeps may fill one table: the list of those that did, each once.
void remember(const fs::path& path, const nlohmann::json& sweep) {
  nlohmann::json list = fs::exists(path) ? files::read_json(path) : nlohmann::json::array();
  if (!list.is_array()) throw FileError(fmt::format("{}: is no list of sweeps", path.string()));
  if (std::ranges::find(list, sweep) == list.end()) list.push_back(sweep);
  files::write_json(path, list);
}

/// Series that share θ, all a function of the seed: of T, T/2, T/3, … transitions.
std::vector<tasks::Observation> observe(const tasks::Task& task, const SweepTask& entry, std::size_t transitions,
                                        std::uint64_t seed) {
  std::vector<tasks::Observation> all;
  for (std::size_t s = 0; s < entry.series; ++s) {
    const std::uint64_t own = s == 0 ? seed : Streams(seed).child("series").stream("observation", s).bits();
    const auto theta = s == 0 ? std::span<const double>() : std::span<const double>(all.front().theta);
    all.push_back(tasks::observe("experiment", task, (transitions + s) / (s + 1), own, theta));
    tasks::lose_states(all.back(), task, entry.missing, own);
  }
  return all;
}

/// The sentence of whatever `work` throws, on one line; empty if it does not. An interruption is no failure of a row.
template <class Work>
std::string error_of(Work&& work) {
  try {
    work();
    return {};
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    std::string sentence = error.what();
    std::ranges::replace(sentence, '\n', ' ');
    return sentence.empty() ? "an error without a sentence" : sentence;
  }
}

class Runner {
 public:
  Runner(const Sweep& sweep, const fs::path& directory, FailedRows before, const Parallel& parallel, Progress& progress)
      : sweep_(sweep),
        directory_(directory),
        before_(before),
        parallel_(parallel),
        progress_(progress),
        rows_(directory / "rows.csv", columns(sweep)) {}

  /// How many rows failed, now or before.
  std::size_t run() {
    std::size_t lengths = 0, amounts = 0;
    for (const SweepTask& entry : sweep_.tasks) lengths += sweep_.lengths(entry).size();
    for (const SweepMethod& method : sweep_.methods) amounts += amounts_of(method).size();
    progress_.start("experiment", "rows",
                    lengths * amounts * sweep_.budgets.size() * sweep_.seeds.size() * sweep_.observations);
    for (const std::uint64_t budget : sweep_.budgets) {
      for (const std::uint64_t seed : sweep_.seeds) {
        for (const SweepTask& entry : sweep_.tasks) {
          for (const SweepMethod& method : sweep_.methods) {
            for (const Amount amount : amounts_of(method)) run_model(entry, method, amount, budget, seed);
          }
        }
      }
    }
    progress_.finish();
    return failed_;
  }

 private:
  using Amount = std::optional<double>;  // of a correction; none: the learned posterior

  static std::vector<Amount> amounts_of(const SweepMethod& method) {
    if (!method.correct) return {std::nullopt};
    return {method.correct->amounts.begin(), method.correct->amounts.end()};
  }

  static std::vector<std::string> columns(const Sweep& sweep) {
    std::vector<std::string> names = sweep.metrics;
    if (std::ranges::any_of(sweep.methods, [](const SweepMethod& method) { return method.correct.has_value(); })) {
      for (const std::string& metric : sweep.metrics) names.push_back(learned_column(metric));
      names.insert(names.end(),
                   {correct_budget_column, corrected_column, alarm_column, limit_column, "correct_seconds"});
    }
    names.insert(names.end(), {"train_seconds", "sample_seconds", "megabytes", error_column});
    return names;
  }

  /// All rows of what is trained on one set of transitions, corrected by one amount. What was trained for one amount
  /// serves all that leave as much to learn from.
  void run_model(const SweepTask& entry, const SweepMethod& method, Amount amount, std::uint64_t budget,
                 std::uint64_t seed) {
    const tasks::Task task = tasks::make_task(entry.name, entry.options);
    std::vector<model::TrainedModel> models;
    std::string no_model;  // why training failed: once is enough for all rows of this set
    const std::string label = method.label + (amount ? method.correct->suffix(*amount) : "");
    const std::uint64_t to_learn = amount ? method.correct->left_to_learn(*amount, budget) : budget;
    for (const std::size_t transitions : sweep_.lengths(entry)) {
      for (std::size_t o = 0; o < sweep_.observations; ++o) {
        Row row;
        row.task = entry.label;
        row.method = label;
        row.budget = budget;
        row.seed = seed;
        row.transitions = transitions;
        row.observation = sweep_.first_observation + o;
        if (!rows_.contains(row) || (before_ == FailedRows::retry && rows_.contains_failed(row))) {
          progress_.note(fmt::format("{} {} {} T = {}", label, entry.label, budget, transitions));
          if (no_model.empty()) {
            no_model = error_of([&] {
              for (std::size_t k = models.size(); k < entry.records.size(); ++k) {
                models.push_back(trained(task, entry, k, method, to_learn, seed));
              }
            });
          }
          row.error = no_model.empty() ? error_of([&] { fill(row, task, entry, method, amount, models); }) : no_model;
          if (row.failed()) {
            row.values.clear();
            progress_.note(
                fmt::format("{} {} {} T = {} failed: {}", label, entry.label, budget, transitions, row.error));
          }
          rows_.append(row);
        }
        failed_ += rows_.contains_failed(row) ? 1 : 0;
        progress_.advance(1);
      }
    }
  }

  /// The model of the k-th kind of record; with two rounds, that of the first.
  model::TrainedModel trained(const tasks::Task& task, const SweepTask& entry, std::size_t k, const SweepMethod& method,
                              std::uint64_t budget, std::uint64_t seed) {
    const fs::path path = directory_ / "models" /
                          fmt::format("{}-{}-{}-{}{}.safetensors", entry.label, method.label, budget, seed,
                                      k == 0 ? "" : fmt::format("-{}", k));
    if (fs::exists(path)) return model::read_model(path);
    progress_.note(fmt::format("{} {} {}: training", method.label, entry.label, budget));
    const Streams streams = k == 0 ? Streams(seed) : Streams(seed).child(fmt::format("records {}", k));
    const Stopwatch watch;
    model::TrainedModel model = fit(transitions(task, entry, k, method, budget, streams), method, streams);
    model.provenance["train_seconds"] = watch.seconds();
    fs::create_directories(path.parent_path());
    model::write_model(path, model);
    return model;
  }

  simulate::TransitionSet transitions(const tasks::Task& task, const SweepTask& entry, std::size_t k,
                                      const SweepMethod& method, std::uint64_t budget, const Streams& streams) const {
    simulate::SimulationPlan plan;
    plan.proposal = sweep_.proposal;
    plan.budget = budget / entry.records.size() / static_cast<std::uint64_t>(method.rounds);
    plan.records = simulate::record_plan("experiment", entry.records[k]);
    plan.seed = streams.child("transitions").seed();
    plan.options = task.options;
    return simulate::simulate(task, plan, parallel_, silent_progress());
  }

  model::TrainedModel fit(const simulate::TransitionSet& set, const SweepMethod& method, const Streams& streams) const {
    const train::Method& trained = train::methods().at("experiment", method.method);
    train::TrainingData data(set, train::split_of("experiment", trained, method.train));
    const train::Recipe recipe = train::recipe_of("experiment", trained, method.train, data.training_size());
    return train::train(method.method, {.data = data,
                                        .loop = recipe.loop,
                                        .settings = recipe.settings,
                                        .streams = streams,
                                        .parallel = parallel_,
                                        .progress = silent_progress(),
                                        .checkpoint = {},
                                        .preset = recipe.preset});
  }

  /// The model of a second round for one observation: transitions from its states, with θ around the posterior by the
  /// first model. A likelihood learns from both rounds, a score from the second alone.
  model::TrainedModel refined(const model::TrainedModel& first, const tasks::Task& task, const SweepTask& entry,
                              const SweepMethod& method, const std::vector<tasks::Observation>& observed,
                              const Row& row) const {
    const Stopwatch watch;
    const Streams streams(row.seed);
    const Matrix found = posterior({first}, method, observed, streams.child("first round")).theta;
    tasks::Task around = task;
    around.prior = sample::fit_around("experiment", task.prior, found, widen).prior();
    simulate::SimulationPlan plan;
    plan.proposal = {{"proposal", "target"}, {"noise", 0.0}, {"relative_noise", 0.1}};
    plan.target = views_of(observed);
    plan.budget = row.budget / static_cast<std::uint64_t>(method.rounds);
    plan.seed = streams.child("second round").stream("observation", row.observation).bits();
    std::vector<simulate::TransitionSet> sets{simulate::simulate(around, plan, parallel_, silent_progress())};
    const bool any_prior = train::methods().at("experiment", method.method).any_prior;
    if (any_prior) sets.push_back(transitions(task, entry, 0, method, row.budget, streams));
    const std::vector<std::string> names(sets.size(), "a round");
    model::TrainedModel model =
        fit(train::joined_transitions(std::move(sets), names, any_prior), method, streams.child("second round"));
    model.provenance["train_seconds"] = first.provenance.value("train_seconds", 0.0) + watch.seconds();
    return model;
  }

  sample::PosteriorRequest request(const std::vector<model::TrainedModel>& models, const SweepMethod& method,
                                   const std::vector<tasks::Observation>& observed) const {
    std::vector<const model::TrainedModel*> companions;
    for (std::size_t k = 1; k < models.size(); ++k) companions.push_back(&models[k]);
    return {.model = models.front(),
            .series = views_of(observed),
            .draws = sweep_.draws,
            .settings = method.sample,
            .companions = std::move(companions)};
  }

  sample::PosteriorDraws posterior(const std::vector<model::TrainedModel>& models, const SweepMethod& method,
                                   const std::vector<tasks::Observation>& observed, const Streams& streams) const {
    return sample::draw_posterior(request(models, method, observed), streams, parallel_);
  }

  void fill(Row& row, const tasks::Task& task, const SweepTask& entry, const SweepMethod& method, Amount amount,
            const std::vector<model::TrainedModel>& models) {
    const std::vector<tasks::Observation> observed = observe(task, entry, row.transitions, row.observation);
    const Matrix reference = reference_draws(task, observed, sweep_.draws, parallel_);
    if (amount) {
      fill_corrected(row, task, method, *amount, models, observed, reference);
    } else if (method.rounds == 2) {
      fill(row, method, {refined(models.front(), task, entry, method, observed, row)}, observed, reference);
    } else {
      fill(row, method, models, observed, reference);
    }
  }

  void fill(Row& row, const SweepMethod& method, const std::vector<model::TrainedModel>& models,
            const std::vector<tasks::Observation>& observed, const Matrix& reference) {
    const Stopwatch watch;
    const sample::PosteriorDraws draws = posterior(models, method, observed, Streams(row.seed));
    row.values["sample_seconds"] = watch.seconds();
    fill_draws(row, draws, models);
    for (const std::string& name : sweep_.metrics) compare(row, name, name, draws.theta, reference);
  }

  void fill_corrected(Row& row, const tasks::Task& task, const SweepMethod& method, double amount,
                      const std::vector<model::TrainedModel>& models, const std::vector<tasks::Observation>& observed,
                      const Matrix& reference) {
    std::size_t transitions = 0;
    for (const tasks::Observation& one : observed) transitions += one.series.rows() - 1;
    const std::uint64_t budget = method.correct->to_simulate(amount, row.budget, transitions);
    nlohmann::json settings = method.correct->settings;
    settings["budget"] = budget;
    const sample::Correction found = sample::correct_posterior(
        {request(models, method, observed), task, from_json<sample::CorrectionSettings>("experiment", settings)},
        Streams(row.seed), parallel_);
    row.values["sample_seconds"] = found.info["seconds"]["learned"].get<double>();
    row.values["correct_seconds"] = found.info["seconds"]["correct"].get<double>();
    row.values[correct_budget_column] = static_cast<double>(budget);
    row.values[corrected_column] = found.not_corrected.empty() ? 1 : 0;
    row.values[alarm_column] = found.certificate.alarm() ? 1 : 0;
    row.values[limit_column] = statistical_limit(static_cast<double>(task.prior.size()),
                                                 static_cast<double>(transitions), static_cast<double>(budget));
    fill_draws(row, found.corrected, models);
    for (const std::string& name : sweep_.metrics) {
      compare(row, name, name, found.corrected.theta, reference);
      compare(row, learned_column(name), name, found.learned.theta, reference);
    }
  }

  static void fill_draws(Row& row, const sample::PosteriorDraws& draws,
                         const std::vector<model::TrainedModel>& models) {
    for (const model::TrainedModel& model : models) {
      row.values["train_seconds"] += model.provenance.value("train_seconds", 0.0);
    }
    row.values["megabytes"] = peak_megabytes();
    row.outcome = draws.outcome;
  }

  void compare(Row& row, const std::string& column, const std::string& metric, const Matrix& theta,
               const Matrix& reference) const {
    const nlohmann::json value =
        evaluate::metrics().at("experiment", metric).compute(theta, reference, Streams(0), parallel_);
    if (value.is_number()) row.values[column] = value.get<double>();
  }

  const Sweep& sweep_;
  fs::path directory_;
  FailedRows before_;
  std::size_t failed_ = 0;
  const Parallel& parallel_;
  Progress& progress_;
  Rows rows_;
};

}  // namespace

std::size_t run_sweep(const Sweep& sweep, const fs::path& directory, FailedRows failed, const Parallel& parallel,
                      Progress& progress) {
  fs::create_directories(directory);
  remember(directory / "sweeps.json", sweep.to_json());
  return Runner(sweep, directory, failed, parallel, progress).run();
}

}  // namespace catena::experiment

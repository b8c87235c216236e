#include "catena/experiment/benchmark.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <vector>

#include "catena/core/errors.h"
#include "catena/core/stopwatch.h"
#include "catena/evaluate/metric.h"
#include "catena/experiment/reference_draws.h"
#include "catena/files/json.h"
#include "catena/prior/around.h"
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
    const std::size_t all = sweep_.tasks.size() * sweep_.methods.size() * sweep_.budgets.size() * sweep_.seeds.size() *
                            sweep_.transitions.size() * sweep_.observations;
    progress_.start("experiment", "rows", all);
    for (const std::uint64_t budget : sweep_.budgets) {
      for (const std::uint64_t seed : sweep_.seeds) {
        for (const SweepTask& entry : sweep_.tasks) {
          for (const SweepMethod& method : sweep_.methods) run_model(entry, method, budget, seed);
        }
      }
    }
    progress_.finish();
    return failed_;
  }

 private:
  static std::vector<std::string> columns(const Sweep& sweep) {
    std::vector<std::string> names = sweep.metrics;
    names.insert(names.end(), {"train_seconds", "sample_seconds", "megabytes", error_column});
    return names;
  }

  /// All rows of what is trained on one set of transitions.
  void run_model(const SweepTask& entry, const SweepMethod& method, std::uint64_t budget, std::uint64_t seed) {
    const tasks::Task task = tasks::make_task(entry.name, entry.options);
    std::vector<model::TrainedModel> models;
    std::string no_model;  // why training failed: once is enough for all rows of this set
    for (const std::size_t transitions : sweep_.transitions) {
      for (std::size_t o = 0; o < sweep_.observations; ++o) {
        Row row;
        row.task = entry.label;
        row.method = method.label;
        row.budget = budget;
        row.seed = seed;
        row.transitions = transitions;
        row.observation = sweep_.first_observation + o;
        if (!rows_.contains(row) || (before_ == FailedRows::retry && rows_.contains_failed(row))) {
          progress_.note(fmt::format("{} {} {} T = {}", method.label, entry.label, budget, transitions));
          if (no_model.empty()) {
            no_model = error_of([&] {
              for (std::size_t k = models.size(); k < entry.records.size(); ++k) {
                models.push_back(trained(task, entry, k, method, budget, seed));
              }
            });
          }
          row.error = no_model.empty() ? error_of([&] { fill(row, task, entry, method, models); }) : no_model;
          if (row.failed()) {
            row.values.clear();
            progress_.note(
                fmt::format("{} {} {} T = {} failed: {}", method.label, entry.label, budget, transitions, row.error));
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
    train::TrainingData data(set, {});
    const train::Recipe recipe = train::recipe_of("experiment", train::methods().at("experiment", method.method),
                                                  method.train, data.training_size());
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
    around.prior = prior::fit_around("experiment", task.prior, found, widen).prior();
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

  sample::PosteriorDraws posterior(const std::vector<model::TrainedModel>& models, const SweepMethod& method,
                                   const std::vector<tasks::Observation>& observed, const Streams& streams) const {
    std::vector<const model::TrainedModel*> companions;
    for (std::size_t k = 1; k < models.size(); ++k) companions.push_back(&models[k]);
    return sample::draw_posterior({.model = models.front(),
                                   .series = views_of(observed),
                                   .draws = sweep_.draws,
                                   .settings = method.sample,
                                   .companions = std::move(companions)},
                                  streams, parallel_);
  }

  void fill(Row& row, const tasks::Task& task, const SweepTask& entry, const SweepMethod& method,
            const std::vector<model::TrainedModel>& models) {
    const std::vector<tasks::Observation> observed = observe(task, entry, row.transitions, row.observation);
    const Matrix reference = reference_draws(task, observed, sweep_.draws, parallel_);
    if (method.rounds == 2) {
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
    for (const model::TrainedModel& model : models) {
      row.values["train_seconds"] += model.provenance.value("train_seconds", 0.0);
    }
    row.values["megabytes"] = peak_megabytes();
    row.outcome = draws.outcome;
    for (const std::string& name : sweep_.metrics) {
      const nlohmann::json value =
          evaluate::metrics().at("experiment", name).compute(draws.theta, reference, Streams(0), parallel_);
      if (value.is_number()) row.values[name] = value.get<double>();
    }
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

#include "catena/experiment/benchmark.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "catena/compose/rule.h"
#include "catena/core/check.h"
#include "catena/core/errors.h"
#include "catena/core/ranks/bytes.h"
#include "catena/core/ranks/ranks.h"
#include "catena/core/stopwatch.h"
#include "catena/evaluate/metric.h"
#include "catena/experiment/estimate.h"
#include "catena/experiment/exact_scores.h"
#include "catena/experiment/reference_draws.h"
#include "catena/experiment/row_plan.h"
#include "catena/files/atomic.h"
#include "catena/files/json.h"
#include "catena/prior/special.h"
#include "catena/sample/correct/correct.h"
#include "catena/sample/judgement/judge.h"
#include "catena/sample/posterior.h"
#include "catena/sample/posteriors/around.h"
#include "catena/sample/posteriors/score.h"
#include "catena/simulate/records/record_plan.h"
#include "catena/simulate/transitions/transitions.h"
#include "catena/simulate/whole_series/series_simulation.h"
#include "catena/tasks/observe.h"
#include "catena/train/joined_sets.h"
#include "catena/train/recipe.h"

namespace catena::experiment {
namespace {

namespace fs = std::filesystem;

constexpr const char* recipe_entry = "sweep";  // of a model's provenance

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
  } catch (const RankError&) {
    throw;
  } catch (const std::exception& error) {
    std::string sentence = error.what();
    std::ranges::replace(sentence, '\n', ' ');
    return sentence.empty() ? "an error without a sentence" : sentence;
  }
}

Matrix in_z(const prior::Prior& prior, const Matrix& theta) {
  Matrix z(theta.rows(), theta.cols());
  for (std::size_t r = 0; r < theta.rows(); ++r) prior.to_z(theta.row(r), z.row(r));
  return z;
}

/// What says most comes first: a first seed before the second, and in each the first series of every cell before the
/// second of any. Of those, the sets whose training takes least, and the unknown ones last.
void most_informative_first(std::vector<RowPlan>& plans, const Sweep& sweep, const RowSeconds& seconds) {
  const auto place = [&](const RowPlan& plan) {
    const auto seed = std::ranges::find(sweep.seeds, plan.row.seed) - sweep.seeds.begin();
    return std::tuple(seed, plan.row.observation,
                      seconds.training(plan).value_or(std::numeric_limits<double>::infinity()));
  };
  std::ranges::stable_sort(plans, {}, place);
}

/// One thing to train.
struct WantedModel {
  RowSet unit;
  std::uint64_t to_learn;
  std::size_t k;  // of the entry's kinds of records
};

class Runner {
 public:
  Runner(const Sweep& sweep, const fs::path& directory, const SweepRun& run, const Parallel& parallel,
         Progress& progress)
      : sweep_(sweep),
        directory_(directory),
        run_(run),
        all_(parallel),
        parallel_(parallel.alone()),
        progress_(progress),
        plans_(row_plans(sweep, run.shard)),
        table_(run.shard.name(directory / "rows.csv")) {
    Ranks& ranks = all_.ranks();
    // The first rank makes the table or mends it; then the others read it.
    if (ranks.first()) rows_.emplace(table_, row_columns(sweep));
    ranks.barrier();
    if (!ranks.first()) rows_.emplace(table_, row_columns(sweep));
  }

  SweepEnd run() {
    SweepEnd end;
    progress_.start("experiment", "rows", plans_.size());
    if (run_.time_limit) {
      end.left = run_in_time();
    } else if (!all_.ranks().shared()) {
      for (const RowPlan& plan : plans_) {
        if (to_run(plan.row)) run_row(plan);  // another process may have run it since
        progress_.advance(1);
      }
    } else {
      const std::vector<std::size_t> missing = missing_rows();
      train_all(missing);
      progress_.advance(plans_.size() - missing.size());
      all_.ranks().deal(
          missing.size(), missing.size() + 1,
          [&](std::size_t i) {
            run_row(plans_[missing[i]]);  // which files it: a row that is done is safe at once
            return std::string();
          },
          [&](std::size_t, std::string&&) { progress_.advance(1); });
      all_.ranks().barrier();
    }
    progress_.finish();
    if (!all_.ranks().first()) return end;
    if (all_.ranks().shared()) {
      std::vector<std::string> keys;
      for (const RowPlan& plan : plans_) keys.push_back(plan.row.key());
      rows_->put_in_order(keys);
    }
    for (const RowPlan& plan : plans_) end.failed += rows_->contains_failed(plan.row) ? 1 : 0;
    return end;
  }

 private:
  bool to_run(const Row& row) {
    return !rows_->contains(row) || (run_.failed == FailedRows::retry && rows_->contains_failed(row));
  }

  /// Rows as long as there is time: none begins that would end too late by the seconds of those before it, as far as
  /// there are such. Returns how many are left.
  std::size_t run_in_time() {
    const Stopwatch watch;
    RowSeconds seconds(read_rows(table_));
    most_informative_first(plans_, sweep_, seconds);
    std::size_t left = 0;
    for (const RowPlan& plan : plans_) {
      if (to_run(plan.row)) {
        const bool trained = fs::exists(model_path(plan.unit, plan.to_learn(), 0));
        const double expected = seconds.drawing(plan).value_or(0) + (trained ? 0 : seconds.training(plan).value_or(0));
        if (watch.seconds() < *run_.time_limit && watch.seconds() + expected <= *run_.time_limit) {
          seconds.add(run_row(plan));
        } else {
          ++left;
        }
      }
      progress_.advance(1);
    }
    return left;
  }

  /// Numbers of the plans whose rows are to be run, as the first rank sees it.
  std::vector<std::size_t> missing_rows() {
    std::string bytes;
    if (all_.ranks().first()) {
      BytesWriter writer;
      for (std::size_t i = 0; i < plans_.size(); ++i) {
        if (to_run(plans_[i].row)) writer.put<std::uint64_t>(i);
      }
      bytes = writer.take();
    }
    all_.ranks().broadcast(bytes);
    std::vector<std::size_t> missing;
    for (BytesReader reader(bytes); !reader.at_end();) missing.push_back(reader.get<std::uint64_t>());
    return missing;
  }

  Row run_row(const RowPlan& plan) {
    Row row = plan.row;
    const SweepTask& entry = *plan.unit.entry;
    const SweepMethod& method = *plan.unit.method;
    const tasks::Task task = tasks::make_task(entry.name, entry.options);
    progress_.note(fmt::format("{} {} {} T = {}", row.method, entry.label, row.budget, row.transitions));
    have_models_for(plan, task);
    row.error = no_model_.empty() ? error_of([&] { fill(row, task, entry, method, plan.amount, models_); }) : no_model_;
    if (row.failed()) {
      row.values.clear();
      progress_.note(
          fmt::format("{} {} {} T = {} failed: {}", row.method, entry.label, row.budget, row.transitions, row.error));
    }
    rows_->append(row);
    return row;
  }

  /// models_ or no_model_ for this row; those of the row before, if they are the same.
  void have_models_for(const RowPlan& plan, const tasks::Task& task) {
    if (plan.unit.method->exact_scores) return;  // there is nothing to learn
    const SweepTask& entry = *plan.unit.entry;
    const std::uint64_t to_learn = plan.to_learn();
    const std::string name = model_path(plan.unit, to_learn, 0);
    if (name != models_of_) {
      models_of_ = name;
      models_.clear();
      no_model_.clear();
      for (std::size_t k = 0; k < entry.records.size(); ++k) {
        const auto failed = no_models_.find(model_path(plan.unit, to_learn, k));
        if (failed != no_models_.end()) no_model_ = failed->second;
      }
    }
    if (!no_model_.empty()) return;  // once is enough for all rows of this set
    no_model_ = error_of([&] {
      for (std::size_t k = models_.size(); k < entry.records.size(); ++k) {
        models_.push_back(trained(task, {plan.unit, to_learn, k}));
      }
    });
  }

  /// What the rows need and is not there yet, trained by all ranks: whole models each, or several ranks at one where
  /// there are fewer models than ranks.
  void train_all(const std::vector<std::size_t>& rows) {
    std::vector<WantedModel> models;
    std::set<std::string> known;
    for (const std::size_t i : rows) {
      const RowPlan& plan = plans_[i];
      if (plan.unit.method->exact_scores) continue;
      for (std::size_t k = 0; k < plan.unit.entry->records.size(); ++k) {
        const std::string path = model_path(plan.unit, plan.to_learn(), k);
        if (known.insert(path).second) models.push_back({plan.unit, plan.to_learn(), k});
      }
    }
    // Which are there is what the first rank sees.
    std::string there;
    for (const WantedModel& model : models) {
      there += fs::exists(model_path(model.unit, model.to_learn, model.k)) ? '1' : '0';
    }
    all_.ranks().broadcast(there);
    std::vector<WantedModel> missing;
    for (std::size_t m = 0; m < models.size(); ++m) {
      if (there[m] == '0') missing.push_back(models[m]);
    }
    if (missing.empty()) return;
    BytesWriter failures;
    const auto train_one = [&](const WantedModel& model) {
      const std::string sentence = error_of([&] {
        static_cast<void>(trained(tasks::make_task(model.unit.entry->name, model.unit.entry->options), model));
      });
      if (sentence.empty() || !parallel_.ranks().first()) return;
      failures.put_text(model_path(model.unit, model.to_learn, model.k)).put_text(sentence);
    };
    if (static_cast<int>(missing.size()) >= all_.ranks().size()) {
      all_.ranks().deal(
          missing.size(), missing.size() + 1,
          [&](std::size_t i) {
            train_one(missing[i]);
            return std::string();
          },
          [](std::size_t, std::string&&) {});
    } else {
      int which = 0;
      const auto group = all_.ranks().group(static_cast<int>(missing.size()), which);
      parallel_ = all_.with(group);
      train_one(missing[static_cast<std::size_t>(which)]);
      parallel_ = all_.alone();
    }
    for (const std::string& bytes : all_.ranks().all_gather(failures.take())) {
      for (BytesReader reader(bytes); !reader.at_end();) {
        const std::string path(reader.get_text());
        no_models_.emplace(path, reader.get_text());
      }
    }
  }

  std::string model_path(const RowSet& unit, std::uint64_t to_learn, std::size_t k) const {
    return directory_ / "models" / (model_name(sweep_, unit, to_learn, k) + ".safetensors");
  }

  /// What a model is learned from and how, in the words of the sweep.
  nlohmann::json recipe_of(const RowSet& unit, std::size_t k) const {
    return {{"task", unit.entry->name},      {"options", unit.entry->options}, {"records", unit.entry->records[k]},
            {"method", unit.method->method}, {"train", unit.method->train},    {"rounds", unit.method->rounds},
            {"series", unit.method->series}, {"proposal", sweep_.proposal}};
  }

  /// The model of the k-th kind of record; with two rounds, that of the first.
  model::TrainedModel trained(const tasks::Task& task, const WantedModel& wanted) {
    const auto& [unit, budget, k] = wanted;
    const fs::path path = model_path(unit, budget, k);
    if (!parallel_.ranks().shared() && fs::exists(path)) {
      model::TrainedModel found = model::read_model(path);
      // One of an earlier version of the task has other parameters; one of another sweep may bear the same label.
      const bool same = found.provenance.value(recipe_entry, recipe_of(unit, k)) == recipe_of(unit, k);
      if (same && found.prior.to_json() == task.prior.to_json()) return found;
    }
    progress_.note(fmt::format("{} {} {}: training", unit.method->label, unit.entry->label, budget));
    const Streams streams = k == 0 ? Streams(unit.seed) : Streams(unit.seed).child(fmt::format("records {}", k));
    const Stopwatch watch;
    model::TrainedModel model =
        fit(transitions(task, *unit.entry, k, *unit.method, budget, streams), *unit.method, streams);
    model.provenance["train_seconds"] = watch.seconds();
    model.provenance[recipe_entry] = recipe_of(unit, k);
    if (!parallel_.ranks().first()) return model;
    files::make_directories(path.parent_path());
    model::write_model(path, model);
    return model;
  }

  simulate::TransitionSet transitions(const tasks::Task& task, const SweepTask& entry, std::size_t k,
                                      const SweepMethod& method, std::uint64_t budget, const Streams& streams) const {
    simulate::SimulationPlan plan;
    plan.proposal = sweep_.proposal;
    // The paper's proposals are part of its preset.
    const bool from_proposal = !entry.records[k].value("initial", false);
    if (plan.proposal.is_null() && method.train.contains("preset") && from_proposal) {
      plan.proposal = {{"proposal", "fixed"}};
    }
    plan.budget = budget / entry.records.size() / static_cast<std::uint64_t>(method.rounds);
    plan.records = simulate::record_plan("experiment", entry.records[k]);
    if (train::methods().at("experiment", method.method).whole_series) plan.records.block = method.series;
    plan.seed = streams.child("transitions").seed();
    plan.options = task.options;
    return simulate::simulate(task, plan, parallel_, silent_progress());
  }

  model::TrainedModel fit(const simulate::TransitionSet& set, const SweepMethod& method, const Streams& streams) const {
    const train::Method& trained = train::methods().at("experiment", method.method);
    const train::Split split = train::split_of("experiment", trained, method.train);
    // Records of many transitions in a row are whole series.
    train::TrainingData data =
        trained.whole_series ? train::TrainingData(simulate::series_of(set), split) : train::TrainingData(set, split);
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
    if (method.exact_scores) {
      fill_exact(row, task, method, observed, reference);
    } else if (amount) {
      fill_corrected(row, task, method, *amount, models, observed, reference);
    } else if (method.rounds == 2) {
      fill(row, task, method, {refined(models.front(), task, entry, method, observed, row)}, observed, reference);
    } else {
      fill(row, task, method, models, observed, reference);
    }
  }

  void fill(Row& row, const tasks::Task& task, const SweepMethod& method,
            const std::vector<model::TrainedModel>& models, const std::vector<tasks::Observation>& observed,
            const Matrix& reference) {
    const Stopwatch watch;
    sample::PosteriorDraws draws = posterior(models, method, observed, Streams(row.seed));
    row.values["sample_seconds"] = watch.seconds();
    sample::judge_draws(request(models, method, observed), draws, Streams(row.seed).child("judgement"), parallel_,
                        {.simulator = {&task}});
    fill_draws(row, draws, models);
    for (const std::string& name : sweep_.metrics) compare(row, name, name, task.prior, draws.theta, reference);
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
      compare(row, name, name, task.prior, found.corrected.theta, reference);
      compare(row, learned_column(name), name, task.prior, found.learned.theta, reference);
    }
  }

  /// Draws by local scores in closed form, for tasks whose z is θ.
  void fill_exact(Row& row, const tasks::Task& task, const SweepMethod& method,
                  const std::vector<tasks::Observation>& observed, const Matrix& reference) {
    const auto settings = from_json<sample::MatchedScorePosteriorSettings>("experiment", method.sample);
    const diffusion::Schedule schedule;
    const Stopwatch watch;
    const ExactScores source(task, observed.front().series, schedule);
    const auto score = compose::compose(
        settings.rule,
        {.source = &source, .schedule = schedule, .precisions = source.precisions(), .settings = settings.compose});
    const sample::DiffusionDraws draws =
        sample::diffusion_sample(*score, sweep_.draws, settings.sample, Streams(row.seed), parallel_);
    row.values["sample_seconds"] = watch.seconds();
    row.values["megabytes"] = peak_megabytes();
    row.outcome = draws.info.outcome;
    for (const std::string& name : sweep_.metrics) compare(row, name, name, task.prior, draws.z, reference);
  }

  static void fill_draws(Row& row, const sample::PosteriorDraws& draws,
                         const std::vector<model::TrainedModel>& models) {
    for (const model::TrainedModel& model : models) {
      row.values["train_seconds"] += model.provenance.value("train_seconds", 0.0);
    }
    row.values["megabytes"] = peak_megabytes();
    row.outcome = draws.outcome;
  }

  /// In z, the unconstrained parameters of the paper, so that distances are in the prior's standard deviations.
  void compare(Row& row, const std::string& column, const std::string& metric, const prior::Prior& prior,
               const Matrix& theta, const Matrix& reference) const {
    const nlohmann::json value = evaluate::metrics()
                                     .at("experiment", metric)
                                     .compute(in_z(prior, theta), in_z(prior, reference), Streams(0), parallel_);
    if (value.is_number()) row.values[column] = value.get<double>();
  }

  const Sweep& sweep_;
  fs::path directory_;
  SweepRun run_;
  Parallel all_, parallel_;  // with all ranks, and with those that share one piece of work: one, most of the time
  Progress& progress_;
  std::vector<RowPlan> plans_;
  fs::path table_;
  std::optional<Rows> rows_;
  std::map<std::string, std::string> no_models_;  // that were not to be trained, by their paths: why
  std::vector<model::TrainedModel> models_;       // of the last row
  std::string models_of_, no_model_;              // the path of the first of them; why training failed
};

}  // namespace

std::vector<std::string> row_columns(const Sweep& sweep) {
  std::vector<std::string> names = sweep.metrics;
  if (std::ranges::any_of(sweep.methods, [](const SweepMethod& method) { return method.correct.has_value(); })) {
    for (const std::string& metric : sweep.metrics) names.push_back(learned_column(metric));
    names.insert(names.end(), {correct_budget_column, corrected_column, alarm_column, limit_column, "correct_seconds"});
  }
  names.insert(names.end(), {"train_seconds", "sample_seconds", "megabytes", error_column});
  return names;
}

std::vector<std::string> row_keys(const Sweep& sweep, Shard shard) {
  std::vector<std::string> keys;
  for (const RowPlan& plan : row_plans(sweep, shard)) keys.push_back(plan.row.key());
  return keys;
}

SweepEnd run_sweep(const Sweep& sweep, const fs::path& directory, const SweepRun& run, const Parallel& parallel,
                   Progress& progress) {
  check::that(!run.time_limit || !parallel.ranks().shared(), "experiment", "the time limit", run.time_limit.value_or(0),
              "none for several ranks");
  if (parallel.ranks().first()) {
    files::make_directories(directory);
    remember(directory / "sweeps.json", sweep.to_json());
    if (!run.shard.whole()) files::write_json(run.shard.name(directory / "sweep.json"), sweep.to_json());
  }
  return Runner(sweep, directory, run, parallel, progress).run();
}

}  // namespace catena::experiment

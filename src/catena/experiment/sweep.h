/// A sweep: which tasks, methods, budgets, lengths, observations and seeds, as data. The benchmark of the paper
/// (sections 4.1–4.3) is one such file; results are rows of one table that grows while the sweep runs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace catena::experiment {

struct SweepTask {
  std::string label;  // what rows are filed under; the task's name unless a sweep compares variants
  std::string name;
  nlohmann::json options = nlohmann::json::object();
  /// What is simulated (docs/extensions/), a model for each, which sample together and share the budget evenly:
  /// as simulate/records/record_plan.h reads them.
  nlohmann::json records = nlohmann::json::array({nlohmann::json::object()});
  double missing = 0;                         // share of the observed states that are left out
  std::size_t series = 1;                     // observed together, with the same θ: of T, T/2, T/3, … transitions
  std::vector<std::size_t> transitions = {};  // lengths T of this task alone; empty: those of the sweep
};

/// Posteriors corrected by simulation (sample/correct/), and by how much: one row for each amount.
struct SweepCorrection {
  /// What the amounts are: transitions for correcting ("budget"), the same for every observed transition
  /// ("per_transition"), or a part of the row's budget that is not for learning then ("share").
  std::string of;
  std::vector<double> amounts;
  nlohmann::json settings = nlohmann::json::object();  // of sample::CorrectionSettings, but the budget

  /// What is left of a row's budget for learning.
  std::uint64_t left_to_learn(double amount, std::uint64_t budget) const;
  /// Transitions for correcting a posterior of so many observed ones.
  std::uint64_t to_simulate(double amount, std::uint64_t budget, std::size_t observed) const;
  /// What rows of that amount have in their label after the method's: " + 100 T", " + 5000", " + 0.5 of it".
  std::string suffix(double amount) const;
};

struct SweepMethod {
  std::string label;   // what rows are filed under; the method's name unless a sweep compares variants
  std::string method;  // fnle, …
  nlohmann::json train = nlohmann::json::object();   // settings that differ from the defaults, and "preset"
  nlohmann::json sample = nlohmann::json::object();  // the same of its posterior sampler
  /// 2: half of the budget goes to a second round for each observation, from its states and around the posterior that
  /// the first half gave (docs/extensions/second-round.md).
  int rounds = 1;
  std::optional<SweepCorrection> correct = std::nullopt;
  std::size_t series = 10;  // transitions of each series, of methods that learn from whole series
  /// Nothing is learned: local scores in closed form take the place of fnse's networks (exact_scores.h).
  bool exact_scores = false;
};

struct Sweep {
  std::vector<SweepTask> tasks;
  std::vector<SweepMethod> methods;
  std::vector<std::uint64_t> budgets{10000};
  std::vector<std::size_t> transitions{1, 10, 100};
  std::size_t observations = 10;
  std::uint64_t first_observation = 1001;  // seeds of the observations: this one and those that follow
  std::vector<std::uint64_t> seeds{1};     // of transitions and training
  std::size_t draws = 1000;
  nlohmann::json proposal;  // where transitions start, of every task; null: each task's own default
  std::vector<std::string> metrics{"c2st", "c2st_mlp", "sw1"};

  const std::vector<std::size_t>& lengths(const SweepTask& task) const {
    return task.transitions.empty() ? transitions : task.transitions;
  }

  nlohmann::json to_json() const;
  /// Throws InputError for names that do not exist, empty lists and fields that no sweep has.
  static Sweep from_json(const std::string& source, const nlohmann::json& json);
};

}  // namespace catena::experiment

/// A sweep: which tasks, methods, budgets, lengths, observations and seeds, as data. The benchmark of the paper
/// (sections 4.1–4.3) is one such file; results are rows of one table that grows while the sweep runs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace catena::experiment {

struct SweepTask {
  std::string label;  // what rows are filed under; the task's name unless a sweep compares variants
  std::string name;
  nlohmann::json options = nlohmann::json::object();
  /// What is simulated (docs/extensions/), a model for each, which sample together and share the budget evenly:
  /// as simulate/record_plan.h reads them.
  nlohmann::json records = nlohmann::json::array({nlohmann::json::object()});
  double missing = 0;      // share of the observed states that are left out
  std::size_t series = 1;  // observed together, with the same θ: of T, T/2, T/3, … transitions
};

struct SweepMethod {
  std::string label;   // what rows are filed under; the method's name unless a sweep compares variants
  std::string method;  // fnle, …
  nlohmann::json train = nlohmann::json::object();   // settings that differ from the defaults, and "preset"
  nlohmann::json sample = nlohmann::json::object();  // the same of its posterior sampler
  /// 2: half of the budget goes to a second round for each observation, from its states and around the posterior that
  /// the first half gave (docs/extensions/second-round.md).
  int rounds = 1;
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

  nlohmann::json to_json() const;
  /// Throws InputError for names that do not exist, empty lists and fields that no sweep has.
  static Sweep from_json(const std::string& source, const nlohmann::json& json);
};

}  // namespace catena::experiment

#include "catena/experiment/row_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace catena::experiment {
namespace {

std::vector<Amount> amounts_of(const SweepMethod& method) {
  if (!method.correct) return {std::nullopt};
  return {method.correct->amounts.begin(), method.correct->amounts.end()};
}

bool same_training(const SweepMethod& a, const SweepMethod& b) {
  return a.method == b.method && a.train == b.train && a.rounds == b.rounds && a.series == b.series &&
         a.exact_scores == b.exact_scores;
}

}  // namespace

std::vector<RowPlan> row_plans(const Sweep& sweep, Shard shard) {
  std::vector<RowSet> units;
  for (const std::uint64_t budget : sweep.budgets) {
    for (const std::uint64_t seed : sweep.seeds) {
      for (const SweepTask& entry : sweep.tasks) {
        for (const SweepMethod& method : sweep.methods) units.push_back({&entry, &method, budget, seed});
      }
    }
  }
  std::vector<RowPlan> plans;
  for (std::size_t u = shard.number - 1; u < units.size(); u += shard.of) {
    const RowSet& unit = units[u];
    for (const Amount amount : amounts_of(*unit.method)) {
      for (const std::size_t transitions : sweep.lengths(*unit.entry)) {
        for (std::size_t o = 0; o < sweep.observations; ++o) {
          Row row;
          row.task = unit.entry->label;
          row.method = unit.method->label + (amount ? unit.method->correct->suffix(*amount) : "");
          row.budget = unit.budget;
          row.seed = unit.seed;
          row.transitions = transitions;
          row.observation = sweep.first_observation + o;
          plans.push_back({unit, amount, std::move(row)});
        }
      }
    }
  }
  return plans;
}

std::vector<RowPlan> missing_rows(const Sweep& sweep, const std::vector<Row>& there) {
  std::set<std::string> keys;
  for (const Row& row : there) keys.insert(row.key());
  std::vector<RowPlan> missing = row_plans(sweep, {});
  std::erase_if(missing, [&](const RowPlan& plan) { return keys.contains(plan.row.key()); });
  return missing;
}

std::string model_name(const Sweep& sweep, const RowSet& unit, std::uint64_t to_learn, std::size_t k) {
  const auto first = std::ranges::find_if(
      sweep.methods, [&](const SweepMethod& method) { return same_training(method, *unit.method); });
  return fmt::format("{}-{}-{}-{}{}", unit.entry->label, first->label, to_learn, unit.seed,
                     k == 0 ? "" : fmt::format("-{}", k));
}

}  // namespace catena::experiment

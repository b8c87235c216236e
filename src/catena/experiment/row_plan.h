/// The rows of a sweep before they are run, in the order in which they are, and the models that they share: what
/// benchmark.h goes through and estimate.h adds up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catena/core/ranks/shard.h"
#include "catena/experiment/rows.h"
#include "catena/experiment/sweep.h"

namespace catena::experiment {

using Amount = std::optional<double>;  // of a correction; none: the learned posterior

/// Rows of what is trained on one set of transitions.
struct RowSet {
  const SweepTask* entry;
  const SweepMethod* method;
  std::uint64_t budget, seed;
};

/// One row to be run. Its pointers are into the sweep.
struct RowPlan {
  RowSet unit;
  Amount amount;
  Row row;

  std::uint64_t to_learn() const {
    return amount ? unit.method->correct->left_to_learn(*amount, unit.budget) : unit.budget;
  }
};

/// In the order in which they are run. What was trained for one amount serves all that leave as much to learn from.
std::vector<RowPlan> row_plans(const Sweep& sweep, Shard shard);

/// Those that are not there, failed ones counted as there: run again by `--retry-failed` alone.
std::vector<RowPlan> missing_rows(const Sweep& sweep, const std::vector<Row>& there);

/// What the k-th model of these rows is called (models/NAME.safetensors). Methods of a sweep that differ in how they
/// draw alone share theirs, which bears the label of the first of them.
std::string model_name(const Sweep& sweep, const RowSet& unit, std::uint64_t to_learn, std::size_t k);

}  // namespace catena::experiment

/// Runs a sweep: simulate, train, observe, sample, compare with the exact reference, one row at a time. A row whose
/// training, sampling or reference fails is filed with the sentence of the error, and the sweep goes on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/ranks/shard.h"
#include "catena/experiment/rows.h"
#include "catena/experiment/sweep.h"

namespace catena::experiment {

enum class FailedRows { keep, retry };

struct SweepRun {
  FailedRows failed = FailedRows::keep;  // rows that failed before: run again for `retry` alone
  /// The rows of every n-th thing that is trained, in a table of its own, rows.3-of-16.csv, with the sweep beside it
  /// (merge.h).
  Shard shard = {};
  /// Seconds. The rows that say most come first, and none begins that would end later (estimate.h). Not with several
  /// ranks.
  std::optional<double> time_limit = std::nullopt;
};

struct SweepEnd {
  std::size_t failed = 0;  // rows of the sweep, now or before
  std::size_t left = 0;    // for another time
};

/// Files in `directory`: sweeps.json, rows.csv, and models/ with what was trained, so that nothing is done twice. A
/// directory that holds another sweep takes the union: rows are known by their names, not by their order. Several ranks
/// share first what has to be trained, then the rows.
SweepEnd run_sweep(const Sweep& sweep, const std::filesystem::path& directory, const SweepRun& run,
                   const Parallel& parallel, Progress& progress);

/// The names of the values of a sweep's rows.
std::vector<std::string> row_columns(const Sweep& sweep);
/// What identifies the rows of a shard (Row::key), in the order in which they are run.
std::vector<std::string> row_keys(const Sweep& sweep, Shard shard);

}  // namespace catena::experiment

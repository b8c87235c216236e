/// Runs a sweep: simulate, train, observe, sample, compare with the exact reference, one row at a time. A row whose
/// training, sampling or reference fails is filed with the sentence of the error, and the sweep goes on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/ranks/shard.h"
#include "catena/experiment/rows.h"
#include "catena/experiment/sweep.h"

namespace catena::experiment {

/// Files in `directory`: sweeps.json, rows.csv, and models/ with what was trained, so that nothing is done twice. A
/// directory that holds another sweep takes the union: rows are known by their names, not by their order. Rows that
/// failed before are run again for `FailedRows::retry` alone. Returns how many rows of the sweep have failed.
///
/// Several ranks share first what has to be trained, then the rows. A shard has the rows of every n-th thing that is
/// trained, in a table of its own, rows.3-of-16.csv, with the sweep beside it (merge.h).
enum class FailedRows { keep, retry };
std::size_t run_sweep(const Sweep& sweep, const std::filesystem::path& directory, FailedRows failed,
                      const Parallel& parallel, Progress& progress, Shard shard = {});

/// The names of the values of a sweep's rows.
std::vector<std::string> row_columns(const Sweep& sweep);
/// What identifies the rows of a shard (Row::key), in the order in which they are run.
std::vector<std::string> row_keys(const Sweep& sweep, Shard shard);

}  // namespace catena::experiment

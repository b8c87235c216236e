/// Runs a sweep: simulate, train, observe, sample, compare with the exact reference, one row at a time.
#pragma once

#include <filesystem>

#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/experiment/rows.h"
#include "catena/experiment/sweep.h"

namespace catena::experiment {

/// Files in `directory`: sweeps.json, rows.csv, and models/ with what was trained, so that nothing is done twice. A
/// directory that holds another sweep takes the union: rows are known by their names, not by their order.
void run_sweep(const Sweep& sweep, const std::filesystem::path& directory, const Parallel& parallel,
               Progress& progress);

}  // namespace catena::experiment

/// One test series of a task with the parameters behind it: what `catena observe` writes and experiments infer from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/simulate/series.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

struct Observation {
  Matrix series;              // (T + 1) × n
  std::vector<double> times;  // of its rows, if the simulator uses time; else empty
  std::vector<double> theta, z;
  Matrix covariates = {};  // of its rows, if the simulator has any
};

/// As one asks about them; the observations must outlive the views.
inline std::vector<simulate::SeriesView> views_of(std::span<const Observation> all) {
  std::vector<simulate::SeriesView> views;
  for (const Observation& one : all) {
    views.push_back({.states = one.series, .times = one.times, .covariates = one.covariates});
  }
  return views;
}

/// θ from the prior, or as given (empty: from the prior), then the series; all a function of the seed. Throws
/// InputError if θ does not fit or a state is not finite, in a sentence that begins with `function`. `covariates`: a
/// table of them in time order, from its first row on (none: the task's own).
Observation observe(std::string_view function, const Task& task, std::size_t transitions, std::uint64_t seed,
                    std::span<const double> theta = {}, std::span<const Matrix> covariates = {});

/// Leaves out a share of the states after the first, from which a chain starts: rows of NaN. Returns how many.
std::size_t lose_states(Observation& observation, const Task& task, double share, std::uint64_t seed);

}  // namespace catena::tasks

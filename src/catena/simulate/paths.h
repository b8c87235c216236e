/// From series as users have them, with missing states and times, to paths: states that follow each other, each with
/// its time and the step to the next. What is learned from records (record.h) is then composed over these.
///
/// A series may have rows that are missing altogether: the path goes on with the next one that is there, over a step as
/// long as the gap. Several series are several paths of the same θ.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/config.h"
#include "catena/simulate/series.h"

namespace catena::simulate {

/// calendar_units() and auto.
std::vector<std::string> time_unit_choices();

struct PathSettings {
  double step_length = 0;
  bool partly_missing = false;
  bool cut_gaps = false;
  std::string time_unit = "auto";
  std::string time_origin = "";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.step_length, "step_length",
          "what one step of the simulator is on the scale of the times (0: 1, or the shortest one seen by a model of "
          "single steps)",
          not_negative());
    visit(c.time_unit, "time_unit",
          "what times count in where they are dates (auto: for a model of single steps without time, the longest unit "
          "of which all steps are whole numbers)",
          one_of(time_unit_choices()));
    visit(c.time_origin, "time_origin", "the date from which times count (empty: that of the first row)", anything());
    visit(c.partly_missing, "partly_missing", "a state of which some coordinates are missing counts as missing",
          anything());
    visit(c.cut_gaps, "cut_gaps", "after a gap that the model cannot step over, a new series begins", anything());
  }
};

/// Which steps a model knows: 1 alone, all whole numbers of a range, or all numbers.
struct KnownSteps {
  double low = 1, high = 1;
  bool whole = true;
  bool only_one() const { return whole && low == 1 && high == 1; }
};

struct Path {
  Matrix states;              // without missing ones
  std::vector<double> times;  // of each; the number of its row if no times were given
  std::vector<double> steps;  // from each to the next, in steps of the simulator; one fewer than states
  bool from_start = true;     // its first state is the series' own
  Matrix covariates = {};     // of each, as the series has them; only those of the last may be missing
};

/// What one step of the simulator is on the scale of the series' times: as the settings say, or else 1, or else, where
/// only single steps are known, the shortest one seen.
double step_length(const SeriesView& series, const KnownSteps& known, const PathSettings& settings);

/// Throws InputError, whose sentence begins with `function`, for other columns than `states`, a state that is missing
/// in part, times that do not rise, and gaps that are no `known` steps (unless the settings say what to do about them).
/// With `covariates`, those of every row from which a path goes on must be there, and no missing row is stepped over:
/// its own covariates would matter.
std::vector<Path> paths_of(std::string_view function, std::span<const SeriesView> series, std::size_t states,
                           const KnownSteps& known, const PathSettings& settings, std::size_t covariates = 0);

}  // namespace catena::simulate

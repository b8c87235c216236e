#include "catena/simulate/paths.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/core/check.h"

namespace catena::simulate {

namespace {

// Times in text files are rounded: steps that differ from a whole number by less are that number.
constexpr double rounding = 1e-3;

/// One series on its way to paths; `name` is how sentences call it.
class Cleaner {
 public:
  Cleaner(std::string_view function, std::string name, const SeriesView& series, const KnownSteps& known,
          const PathSettings& settings, std::size_t covariates)
      : function_(function),
        name_(std::move(name)),
        series_(series),
        known_(known),
        settings_(settings),
        covariates_(covariates) {}

  void add_paths(std::size_t states, std::vector<Path>& paths) {
    check_series(states);
    const std::vector<std::size_t> rows = present_rows();
    const double unit = rows.size() > 1 ? step_length(series_, known_, settings_) : 1;
    std::vector<std::size_t> piece;
    std::vector<double> steps;
    bool from_start = !rows.empty() && rows.front() == 0;
    const auto finish = [&] {
      if (!piece.empty()) paths.push_back(path_of(piece, steps, from_start));
      piece.clear();
      steps.clear();
      from_start = false;
    };
    for (const std::size_t row : rows) {
      if (!piece.empty()) {
        const double step = step_between(piece.back(), row, unit);
        if (step > 0) {
          if (covariates_ > 0) check_covariates(piece.back());
          steps.push_back(step);
        } else {
          finish();
        }
      }
      piece.push_back(row);
    }
    finish();
  }

 private:
  void check_series(std::size_t states) const {
    check::equal(function_, fmt::format("the number of states of {}", name_), series_.states.cols, states);
    if (covariates_ > 0) {
      check::equal(function_, fmt::format("the number of covariates of {}", name_), series_.covariates.cols,
                   covariates_);
      check::equal(function_, fmt::format("the number of rows of the covariates of {}", name_), series_.covariates.rows,
                   series_.states.rows);
    }
    if (series_.times.empty()) return;
    check::equal(function_, fmt::format("the number of times of {}", name_), series_.times.size(), series_.states.rows);
    check::all_finite(function_, fmt::format("the times of {}", name_), series_.times);
    for (std::size_t r = 1; r < series_.times.size(); ++r) {
      check::that(series_.times[r] > series_.times[r - 1], function_,
                  fmt::format("the time of row {} of {}", r + 1, name_), series_.times[r],
                  fmt::format("later than {}, that of the row before", series_.times[r - 1]));
    }
  }

  /// Of a row from which a transition starts.
  void check_covariates(std::size_t row) const {
    for (std::size_t i = 0; i < covariates_; ++i) {
      const double value = series_.covariates(row, i);
      if (std::isfinite(value)) continue;
      const std::string which = series_.covariate_names.empty()
                                    ? fmt::format("covariate {}", i + 1)
                                    : fmt::format("the covariate {}", series_.covariate_names[i]);
      check::fail(function_, fmt::format("{} in row {} of {}", which, row + 1, name_),
                  std::isnan(value) ? std::string("missing") : fmt::format("{}", value),
                  "finite, for the transition from that row depends on it: fill it in, or leave the state of the row "
                  "out, too, and set cut_gaps");
    }
  }

  std::vector<std::size_t> present_rows() const {
    std::vector<std::size_t> rows;
    for (std::size_t r = 0; r < series_.states.rows; ++r) {
      const auto state = series_.states.row(r);
      const auto missing =
          static_cast<std::size_t>(std::ranges::count_if(state, [](double x) { return std::isnan(x); }));
      const std::string row = fmt::format("row {} of {}", r + 1, name_);
      for (const double x : state) check::that(!std::isinf(x), function_, row, x, "finite, or NaN where it is missing");
      if (missing == 0) rows.push_back(r);
      if (missing == 0 || missing == state.size() || settings_.partly_missing) continue;
      check::fail(
          function_, row, fmt::format("missing in {} of {} coordinates", missing, state.size()),
          "there or missing as a whole: a transition needs all coordinates of a state; fill in what is missing, or "
          "set partly_missing to drop what is there of it");
    }
    return rows;
  }

  /// 0: the path ends here.
  double step_between(std::size_t from, std::size_t to, double unit) const {
    double step = (series_.time(to) - series_.time(from)) / unit;
    const double whole = std::round(step);
    if (std::abs(step - whole) <= rounding * std::max(1.0, whole) && whole >= 1) step = whole;
    const bool fits =
        step >= known_.low * (1 - rounding) && step <= known_.high * (1 + rounding) && (!known_.whole || step == whole);
    const bool skips = covariates_ > 0 && to != from + 1;
    if (fits && !skips) return step;
    if (settings_.cut_gaps) return 0;
    const std::string where = fmt::format("the step from row {} to row {} of {}", from + 1, to + 1, name_);
    if (skips || (covariates_ > 0 && known_.only_one() && step == whole)) {
      check::fail(function_, where, fmt::format("{:.6g}", step),
                  "from one row to the next, for covariates act on every step in between: set cut_gaps to begin anew "
                  "after the gap");
    }
    if (known_.whole && step != whole) {
      check::fail(function_, where, fmt::format("{:.6g}", step),
                  "a whole number of the simulator's steps (step_length)");
    }
    const std::string range = known_.low == known_.high ? fmt::format("{:.6g}", known_.low)
                                                        : fmt::format("{:.6g} to {:.6g}", known_.low, known_.high);
    check::fail(function_, where, fmt::format("{:.6g}", step),
                fmt::format("what the model knows, {}; simulate with gaps up to it, or set cut_gaps", range));
  }

  Path path_of(const std::vector<std::size_t>& rows, const std::vector<double>& steps, bool from_start) const {
    Path path{Matrix(rows.size(), series_.states.cols), {}, steps, from_start};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::ranges::copy(series_.states.row(rows[i]), path.states.row(i).begin());
      path.times.push_back(series_.time(rows[i]));
    }
    path.covariates = Matrix(rows.size(), covariates_);
    for (std::size_t i = 0; covariates_ > 0 && i < rows.size(); ++i) {
      std::ranges::copy(series_.covariates.row(rows[i]), path.covariates.row(i).begin());
    }
    return path;
  }

  std::string_view function_;
  std::string name_;
  const SeriesView& series_;
  const KnownSteps& known_;
  const PathSettings& settings_;
  std::size_t covariates_;
};

}  // namespace

std::vector<std::string> time_unit_choices() {
  std::vector<std::string> choices{"auto"};
  choices.insert(choices.end(), calendar_units().begin(), calendar_units().end());
  return choices;
}

double step_length(const SeriesView& series, const KnownSteps& known, const PathSettings& settings) {
  if (settings.step_length > 0) return settings.step_length;
  if (series.times.size() < 2 || !known.only_one()) return 1;
  double shortest = std::numeric_limits<double>::infinity();
  for (std::size_t r = 1; r < series.times.size(); ++r) {
    shortest = std::min(shortest, series.times[r] - series.times[r - 1]);
  }
  return shortest;
}

std::vector<Path> paths_of(std::string_view function, std::span<const SeriesView> series, std::size_t states,
                           const KnownSteps& known, const PathSettings& settings, std::size_t covariates) {
  check_config(function, settings);
  std::vector<Path> paths;
  for (std::size_t s = 0; s < series.size(); ++s) {
    const std::string name = series.size() == 1 ? std::string("the series") : fmt::format("series {}", s + 1);
    Cleaner(function, name, series[s], known, settings, covariates).add_paths(states, paths);
  }
  return paths;
}

}  // namespace catena::simulate

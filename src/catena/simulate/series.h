/// A series as every stage takes it: states, times, covariates and names, seen and not owned. Several series of one θ
/// are a span of these, in which none is special.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/files/csv.h"

namespace catena::simulate {

struct SeriesView {
  ConstMatrixView states;                   // one a row, NaN where it is missing
  std::span<const double> times = {};       // of the rows; none: 0, 1, … where someone asks
  std::span<const std::string> names = {};  // of the columns; none: not known
  std::optional<Calendar> calendar = {};    // of times that are dates
  ConstMatrixView covariates = {};          // u_t of row t, which acts from there to the next row; none: no columns
  std::span<const std::string> covariate_names = {};  // of their columns; none: not known

  double time(std::size_t row) const { return times.empty() ? static_cast<double>(row) : times[row]; }
};

/// What was read stays where it is and must outlive the views.
inline SeriesView view_of(const files::Series& series) {
  return {series.values, series.times, series.names, series.calendar, series.covariates, series.covariate_names};
}
inline std::vector<SeriesView> views_of(std::span<const files::Series> all) {
  std::vector<SeriesView> views;
  for (const files::Series& series : all) views.push_back(view_of(series));
  return views;
}

}  // namespace catena::simulate

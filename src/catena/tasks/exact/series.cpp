#include "catena/tasks/exact/series.h"

#include <fmt/format.h>

#include <algorithm>

#include "catena/core/check.h"

namespace catena::tasks::exact {

void check_series(std::string_view task, ConstMatrixView series, std::size_t states) {
  check::that(series.rows >= 2, task, "the number of states in the series", series.rows, "at least 2 (one transition)");
  check::equal(task, "the number of columns of the series", series.cols, states);
  for (std::size_t t = 0; t < series.rows; ++t) check::all_finite(task, fmt::format("series[{}]", t), series.row(t));
}

Matrix copy_series(ConstMatrixView series) {
  Matrix copy(series.rows, series.cols);
  for (std::size_t t = 0; t < series.rows; ++t) std::ranges::copy(series.row(t), copy.row(t).begin());
  return copy;
}

}  // namespace catena::tasks::exact

/// Which draws or records are whole: those without NaN or infinity, as a sampler that diverged leaves them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "catena/core/array.h"

namespace catena::sample {

inline bool all_finite(std::span<const double> row) {
  return std::ranges::all_of(row, [](double value) { return std::isfinite(value); });
}

inline std::vector<std::size_t> finite_rows(ConstMatrixView values) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < values.rows; ++r) {
    if (all_finite(values.row(r))) rows.push_back(r);
  }
  return rows;
}

inline Matrix rows_of(ConstMatrixView from, std::span<const std::size_t> rows) {
  Matrix some(rows.size(), from.cols);
  for (std::size_t r = 0; r < rows.size(); ++r) std::ranges::copy(from.row(rows[r]), some.row(r).begin());
  return some;
}

}  // namespace catena::sample

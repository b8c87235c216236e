/// The columns of a set of records, named once: z, θ, x^t …, x^(t+1) …, t, Δ and u_t …. Buffers, rows, sets and files
/// walk this list, so that a new column is a line here.
#pragma once

#include <array>
#include <cstddef>

#include "catena/core/array.h"
#include "catena/simulate/records/record.h"

namespace catena::simulate {

/// One array for each column: Matrix where they are kept, MatrixView where they are seen. `time` and `step` have no
/// columns of their own unless records differ in them, nor has `x` for initial states.
template <class Array>
struct Columns {
  Array z, theta;    // N × d
  Array x, x_next;   // N × mn and N × Mn
  Array time, step;  // N × 1, or N × 0
  Array u;           // N × Mk: the covariates of each step

  std::array<Array*, 7> arrays() { return {&z, &theta, &x, &x_next, &time, &step, &u}; }
  std::array<const Array*, 7> arrays() const { return {&z, &theta, &x, &x_next, &time, &step, &u}; }
};

/// What files call a column, and how wide it is.
struct Column {
  const char* name;
  std::size_t (*width)(const RecordShape& shape, std::size_t parameters);
  const char* meaning;
  const char* dimension;
  /// Of plain transitions, where these are called otherwise.
  const char* plain_meaning = meaning;
  const char* plain_dimension = dimension;
};

/// In the order of Columns::arrays().
inline constexpr std::array<Column, 7> record_columns{{
    {"z", [](const RecordShape&, std::size_t d) { return d; }, "parameters in the space where the prior is N(0, I)",
     "parameter"},
    {"theta", [](const RecordShape&, std::size_t d) { return d; }, "parameters", "parameter"},
    {"x", [](const RecordShape& shape, std::size_t) { return shape.condition(); }, "states before, latest first",
     "state_before", "state before the transition", "state"},
    {"x_next", [](const RecordShape& shape, std::size_t) { return shape.target(); }, "states after, in their order",
     "state_after", "state after the transition", "state"},
    {"time", [](const RecordShape& shape, std::size_t) -> std::size_t { return shape.time ? 1 : 0; },
     "t of the state before the transition", "time_column"},
    {"step", [](const RecordShape& shape, std::size_t) -> std::size_t { return shape.step ? 1 : 0; },
     "time that the transition takes, in steps of the simulator", "step_column"},
    {"u", [](const RecordShape& shape, std::size_t) { return shape.inputs(); },
     "covariates of the steps, one step after the other", "covariate_column", "covariates of the transition",
     "covariate"},
}};

/// visit(column, its array in each of `all`) for every column.
template <class Visit, class... Sets>
void for_columns(Visit&& visit, Sets&&... all) {
  for (std::size_t k = 0; k < record_columns.size(); ++k) visit(record_columns[k], *all.arrays()[k]...);
}

using TransitionRows = Columns<MatrixView>;

inline TransitionRows slice(const TransitionRows& rows, std::size_t begin, std::size_t end) {
  TransitionRows part;
  for_columns([&](const Column&, MatrixView& to, const MatrixView& from) { to = from.slice_rows(begin, end); }, part,
              rows);
  return part;
}

inline Columns<Matrix> make_columns(const RecordShape& shape, std::size_t parameters, std::size_t rows) {
  Columns<Matrix> made;
  for_columns([&](const Column& column, Matrix& array) { array = Matrix(rows, column.width(shape, parameters)); },
              made);
  return made;
}

inline TransitionRows view(Columns<Matrix>& columns) {
  TransitionRows rows;
  for_columns([](const Column&, MatrixView& to, Matrix& from) { to = from.view(); }, rows, columns);
  return rows;
}

}  // namespace catena::simulate

/// Frames: in a set that rollouts have made, x^(t+1) of one record is x^t of another. Files of large states keep each
/// of them once, in floats, and records say where theirs are:
///
///   frames[f]       every state, those of a rollout one after the other: x⁰, x¹, …, x^R, then the next rollout's
///   x_frame[r]      the place of x^t of record r;   x_next_frame[r]  that of its x^(t+1), NaN if it was not finite
///
/// Rollouts of a block lie side by side while they are made (source.h): row r of a block is round r div L of lane
/// r mod L. A lane that left the finite numbers begins anew in the frame that its lost state would have had.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/files/netcdf/rows.h"
#include "catena/simulate/source.h"
#include "catena/simulate/transitions/columns.h"

namespace catena::simulate {

inline constexpr const char* frames_name = "frames";
inline constexpr const char* frame_name = "x_frame";
inline constexpr const char* next_frame_name = "x_next_frame";

/// x and x_next, for which places stand.
inline bool is_state(const Column& column) {
  return std::string_view(column.name) == "x" || std::string_view(column.name) == "x_next";
}
inline const char* stored_name(const Column& column, bool by_frame) {
  if (!by_frame || !is_state(column)) return column.name;
  return std::string_view(column.name) == "x" ? frame_name : next_frame_name;
}
inline std::size_t stored_width(const Column& column, const RecordShape& shape, std::size_t parameters, bool by_frame) {
  return by_frame && is_state(column) ? 1 : column.width(shape, parameters);
}
/// Makes the variable of a state one of places.
void describe_places(const Column& column, files::RowVariable& variable);

/// Where the frames of a plan's blocks are.
class FrameLayout {
 public:
  /// Of `rows` records.
  FrameLayout(const TransitionSource& source, std::size_t rows);

  std::size_t frames() const { return first_.back(); }
  files::RowVariable variable(std::size_t states) const;

  /// Whole blocks of rows, the first of which is row `first_row` of all: their frames, and the rows as they are stored.
  struct Stored {
    std::size_t first_frame = 0;
    Matrix frames;
    Columns<Matrix> rows;
  };
  Stored stored(std::size_t first_row, const TransitionRows& rows) const;

  /// All frames of one file into another.
  void copy(const files::NetcdfWriter& from, files::NetcdfWriter& to, std::size_t states) const;

 private:
  /// Frames of a lane that makes so many rounds of this block.
  std::size_t frames_of(std::size_t block, std::size_t rounds) const;
  void store_block(std::size_t block, std::size_t at, std::size_t end, const TransitionRows& rows, Stored& to) const;

  std::size_t lanes_, block_rows_;
  std::vector<std::vector<bool>> begins_;  // of even and odd blocks, round by round
  std::vector<std::size_t> first_;         // frame of each block, and of the one after the last
};

}  // namespace catena::simulate

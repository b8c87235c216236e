#include "catena/simulate/transitions/frames.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/simulate/simulation.h"

namespace catena::simulate {

void describe_places(const Column& column, files::RowVariable& variable) {
  variable.name = stored_name(column, true);
  variable.columns = {"place", 1};
  variable.single_precision = false;  // whole numbers up to 2⁵³, and NaN
  variable.attributes["long_name"] = std::string("row of frames that has the ") + column.plain_meaning;
}

FrameLayout::FrameLayout(const TransitionSource& source, std::size_t rows)
    : lanes_(source.lanes()), block_rows_(source.block_rows()), first_{0} {
  const std::size_t rounds = block_rows_ / lanes_, blocks = (rows + block_rows_ - 1) / block_rows_;
  for (std::size_t block = 0; block < blocks; ++block) {
    begins_.emplace_back(rounds);
    for (std::size_t round = 0; round < rounds; ++round) begins_.back()[round] = source.begins(block, round);
    const std::size_t here = std::min(block_rows_, rows - block * block_rows_);
    std::size_t frames = 0;
    for (std::size_t l = 0; l < std::min(lanes_, here); ++l) {
      frames += frames_of(block, (here - l + lanes_ - 1) / lanes_);
    }
    first_.push_back(first_.back() + frames);
  }
}

std::size_t FrameLayout::frames_of(std::size_t block, std::size_t rounds) const {
  std::size_t frames = rounds;
  for (std::size_t round = 0; round < rounds; ++round) frames += begins_[block][round] ? 1 : 0;
  return frames;
}

files::RowVariable FrameLayout::variable(std::size_t states) const {
  files::RowVariable variable;
  variable.name = frames_name;
  variable.columns = {"state", states};
  variable.single_precision = true;
  variable.attributes["long_name"] = "states, those of a rollout one after the other";
  variable.rows = {"frame", frames()};
  return variable;
}

FrameLayout::Stored FrameLayout::stored(std::size_t first_row, const TransitionRows& rows) const {
  CATENA_ASSERT(first_row % block_rows_ == 0);
  const std::size_t first_block = first_row / block_rows_, count = rows.x_next.rows;
  const std::size_t blocks = (count + block_rows_ - 1) / block_rows_;
  Stored to;
  to.first_frame = first_[first_block];
  to.frames = Matrix(first_[first_block + blocks] - to.first_frame, rows.x.cols);
  for_columns(
      [&](const Column& column, const MatrixView& from, Matrix& stored) {
        stored = Matrix(count, is_state(column) ? 1 : from.cols);
        for (std::size_t r = 0; !is_state(column) && r < count; ++r) {
          std::ranges::copy(from.row(r), stored.row(r).begin());
        }
      },
      rows, to.rows);
  for (std::size_t b = 0; b < blocks; ++b) {
    store_block(first_block + b, b * block_rows_, std::min(count, (b + 1) * block_rows_), rows, to);
  }
  return to;
}

void FrameLayout::store_block(std::size_t block, std::size_t at, std::size_t end, const TransitionRows& rows,
                              Stored& to) const {
  std::size_t frame = first_[block] - to.first_frame;
  for (std::size_t l = 0; l < lanes_ && at + l < end; ++l) {
    std::size_t round = 0;
    for (std::size_t r = at + l; r < end; r += lanes_, ++round) {
      if (begins_[block][round]) std::ranges::copy(rows.x.row(r), to.frames.row(frame++).begin());
      to.rows.x(r, 0) = static_cast<double>(to.first_frame + frame - 1);
      const bool finite = row_is_finite(rows.x_next, r);
      to.rows.x_next(r, 0) = finite ? static_cast<double>(to.first_frame + frame) : std::nan("");
      if (finite) {
        std::ranges::copy(rows.x_next.row(r), to.frames.row(frame).begin());
      } else if (r + lanes_ < end && !begins_[block][round + 1]) {  // where the lane begins anew
        std::ranges::copy(rows.x.row(r + lanes_), to.frames.row(frame).begin());
      }
      ++frame;
    }
  }
}

void FrameLayout::copy(const files::NetcdfWriter& from, files::NetcdfWriter& to, std::size_t states) const {
  const std::size_t at_a_time = std::max<std::size_t>(1, batch_bytes / sizeof(double) / states);
  for (std::size_t begin = 0; begin < frames(); begin += at_a_time) {
    Matrix some(std::min(at_a_time, frames() - begin), states);
    from.read_rows(frames_name, begin, some.view());
    to.write_rows(frames_name, begin, some);
  }
}

Columns<Matrix> Simulation::stored_buffer(std::size_t count) const {
  Columns<Matrix> made;
  for_columns(
      [&](const Column& column, Matrix& array) {
        array = Matrix(count, stored_width(column, source.shape(), source.model().prior.size(), frames.has_value()));
      },
      made);
  return made;
}

void write_simulated(files::NetcdfWriter& writer, const Simulation& simulation, std::size_t first_row,
                     const TransitionRows& rows) {
  if (!simulation.frames) return write_batch(writer, first_row, rows);
  const FrameLayout::Stored stored = simulation.frames->stored(first_row, rows);
  writer.write_rows(frames_name, stored.first_frame, stored.frames);
  write_batch(writer, first_row, stored.rows, true);
}

}  // namespace catena::simulate

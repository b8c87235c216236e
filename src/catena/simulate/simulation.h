/// What simulating in memory and to a file have in common. Internal to simulate/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "catena/files/netcdf/rows.h"
#include "catena/simulate/transitions/frames.h"
#include "catena/simulate/transitions/transitions.h"

namespace catena::simulate {

using LanesPerThread = std::vector<std::unique_ptr<TransitionLanes>>;  // one per worker, made when first used

/// Blocks of which the simulator made nothing, and what it said of the first of them.
struct BlockFailures {
  std::uint64_t count = 0;
  std::size_t first = std::numeric_limits<std::size_t>::max();  // its number
  std::string sentence;

  void add(const BlockFailures& others) {
    count += others.count;
    if (others.first >= first) return;
    first = others.first;
    sentence = others.sentence;
  }
};

/// A plan that was checked, bound to its model and with its proposal made.
struct Simulation {
  Simulation(const Model& model, const SimulationPlan& plan);

  double max_invalid;
  std::size_t chunk_rows;  // as in the plan
  TransitionSource source;
  std::size_t rows = 0;  // to simulate: what the budget without the proposal's cost is enough for
  Shard shard;
  std::size_t begin = 0, end = 0;  // the rows of the shard
  nlohmann::json provenance;
  std::optional<FrameLayout> frames = {};  // where files keep every state once

  std::size_t part_rows() const { return end - begin; }
  Columns<Matrix> buffer(std::size_t count) const {
    return make_columns(source.shape(), source.model().prior.size(), count);
  }
  /// The same, as files have them: with places of frames if there are any.
  Columns<Matrix> stored_buffer(std::size_t count) const;
  /// Throws if `invalid` rows of all are too many.
  void check_invalid(std::uint64_t invalid) const;
  /// Makes block first_block + index into its place in `to`, whose first row is that of first_block. If the simulator
  /// fails, all its rows are invalid, and the failure is noted.
  void make_blocks(std::size_t first_block, const TransitionRows& to, std::vector<std::size_t>& invalid,
                   std::size_t index, LanesPerThread& lanes) const;
  BlockFailures failures() const;
  void add_failures(const BlockFailures& others) const;

 private:
  Simulation(const Model& model, const SimulationPlan& plan, const std::vector<Matrix>& covariates);
  static ProposalPtr proposal_of(const Model& model, const SimulationPlan& plan, std::span<const Matrix> covariates);

  mutable std::mutex failures_mutex_;
  mutable BlockFailures failures_;
};

bool row_is_finite(ConstMatrixView rows, std::size_t r);
/// Moves the rows with a finite x^(t+1) to the front, in their order; returns how many there are.
std::size_t drop_invalid_rows(const TransitionRows& rows);

// Of the file (transitions_file.cpp), for those who write parts of it.

inline constexpr std::size_t batch_bytes = std::size_t{16}
                                           << 20;  // simulated, written and made safe at a time (twice in memory)

/// The same rows, as `simulation` lays them out in a file that holds `rows` of them.
files::RowLayout layout_of(const Simulation& simulation, std::size_t rows);
/// Columns as they are stored: with `by_frame`, places of frames stand for states.
template <class Array>
void write_batch(files::NetcdfWriter& writer, std::size_t first_row, const Columns<Array>& rows,
                 bool by_frame = false) {
  for_columns(
      [&](const Column& column, ConstMatrixView values) {
        if (values.cols > 0) writer.write_rows(stored_name(column, by_frame), first_row, values);
      },
      rows);
}
/// From a reader, or from the writer of the file itself.
template <class Source>
void read_batch(const Source& source, std::size_t first_row, const TransitionRows& rows, bool by_frame = false) {
  for_columns(
      [&](const Column& column, const MatrixView& values) {
        if (values.cols > 0) source.read_rows(stored_name(column, by_frame), first_row, values);
      },
      rows);
}
/// Whole blocks of rows as they were simulated, with their frames if the file keeps these.
void write_simulated(files::NetcdfWriter& writer, const Simulation& simulation, std::size_t first_row,
                     const TransitionRows& rows);

/// What a file of a shard says beside what its transitions say: enough to put all of them together without the model.
struct ShardRecord {
  Shard shard;
  std::size_t begin = 0, end = 0, rows = 0;    // its rows, of how many
  std::size_t chunk_rows = 0, batch_rows = 0;  // of the whole file, and those of which invalid ones are dropped
  double max_invalid = 0;
};
nlohmann::json shard_json(const ShardRecord& record);
inline constexpr std::string_view shard_kind = "shard of transitions";
/// Of rows that are made and written at a time.
inline constexpr std::size_t chunks_of_a_batch = 16;

/// How many rows of a shard's file are already there, and how many of these are not finite.
struct Resumed {
  std::size_t rows = 0;
  std::uint64_t invalid = 0;
};

/// The rows of the shard from `resumed` on, made by all ranks and written by the first, batch after batch; returns
/// there how many of all are invalid (transitions_ranks.cpp). `writer` is null on the others.
std::uint64_t simulate_on_ranks(const Simulation& simulation, files::NetcdfWriter* writer, Resumed resumed,
                                std::size_t batch_rows, const Parallel& parallel, Progress& progress);

}  // namespace catena::simulate

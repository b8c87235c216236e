// Transitions of many ranks in one file. Blocks go to whichever rank has nothing to do, some at a time; the first rank,
// which makes blocks as well, writes batches in their order, so that the file is the one that a single process writes.

#include <algorithm>
#include <map>

#include "catena/core/check.h"
#include "catena/core/ranks/bytes.h"
#include "catena/core/ranks/ranks.h"
#include "catena/simulate/simulation.h"

namespace catena::simulate {

namespace {

/// Pieces for each rank, so that the last ones to work have little left to do; no larger than a batch.
constexpr std::size_t pieces_per_rank = 64;

/// Rows [begin, end) of the shard: some blocks in a row, within a batch.
struct Piece {
  std::size_t begin, end, batch;
};

std::vector<Piece> pieces_of(std::size_t begin, std::size_t end, std::size_t batch_rows, std::size_t block_rows,
                             std::size_t ranks) {
  const std::size_t blocks = (end - begin + block_rows - 1) / block_rows;
  const std::size_t rows = block_rows * std::max<std::size_t>(1, blocks / (ranks * pieces_per_rank));
  std::vector<Piece> pieces;
  for (std::size_t batch = 0, first = begin; first < end; ++batch, first += batch_rows) {
    const std::size_t last = std::min(end, first + batch_rows);
    for (std::size_t row = first; row < last; row += rows) pieces.push_back({row, std::min(last, row + rows), batch});
  }
  return pieces;
}

}  // namespace

std::uint64_t simulate_on_ranks(const Simulation& simulation, files::NetcdfWriter* writer, Resumed resumed,
                                std::size_t batch_rows, const Parallel& parallel, Progress& progress) {
  Ranks& ranks = parallel.ranks();
  std::string begun = BytesWriter().put<std::uint64_t>(resumed.rows).take();
  ranks.broadcast(begun);
  const std::size_t begin = BytesReader(begun).get<std::uint64_t>(), end = simulation.part_rows();
  const std::size_t block_rows = simulation.source.block_rows();
  const std::vector<Piece> pieces =
      pieces_of(begin, end, batch_rows, block_rows, static_cast<std::size_t>(ranks.size()));
  LanesPerThread lanes(static_cast<std::size_t>(parallel.threads()));

  // A piece's bytes: how many of its rows are invalid, failures of the simulator, the columns one after the other.
  BlockFailures told;  // of this rank's failures, those that were sent with an earlier piece
  const auto make = [&](std::size_t i) {
    const Piece& piece = pieces[i];
    Columns<Matrix> buffer = simulation.buffer(piece.end - piece.begin);
    std::vector<std::size_t> invalid((piece.end - piece.begin + block_rows - 1) / block_rows);
    parallel.for_each(invalid.size(), [&](std::size_t index) {
      simulation.make_blocks((simulation.begin + piece.begin) / block_rows, view(buffer), invalid, index, lanes);
      ranks.tick();
      if (progress.stop_requested()) throw Interrupted();
    });
    std::uint64_t sum = 0;
    for (const std::size_t count : invalid) sum += count;
    const BlockFailures failed = simulation.failures();
    BytesWriter bytes;
    bytes.put(sum).put(ranks.rank()).put<std::uint64_t>(failed.count - told.count).put<std::uint64_t>(failed.first);
    bytes.put_text(failed.sentence);
    told = failed;
    std::string message = bytes.take();
    std::size_t size = message.size() + sizeof(std::uint64_t);
    for (const Matrix* part : std::as_const(buffer).arrays()) size += part->values().size_bytes();
    message.reserve(size);
    for (const Matrix* part : std::as_const(buffer).arrays()) {
      message.append(reinterpret_cast<const char*>(part->values().data()), part->values().size_bytes());
    }
    return message;
  };

  struct Batch {
    Columns<Matrix> rows;
    std::size_t begin = 0, end = 0, missing = 0;
  };
  std::map<std::size_t, Batch> batches;  // that have begun to come
  std::size_t next = 0;                  // to be written
  std::uint64_t invalid = resumed.invalid;
  const auto take = [&](std::size_t i, std::string&& message) {
    const Piece& piece = pieces[i];
    Batch& batch = batches[piece.batch];
    if (batch.end == 0) {
      batch.begin = begin + piece.batch * batch_rows;
      batch.end = std::min(end, batch.begin + batch_rows);
      batch.missing = batch.end - batch.begin;
      batch.rows = simulation.buffer(batch.missing);
    }
    BytesReader bytes(message);
    invalid += bytes.get<std::uint64_t>();
    const bool own = bytes.get<int>() == ranks.rank();
    BlockFailures failed;
    failed.count = bytes.get<std::uint64_t>();
    failed.first = bytes.get<std::uint64_t>();
    failed.sentence = bytes.get_text();
    if (!own && failed.count > 0) simulation.add_failures(failed);
    const TransitionRows to = slice(view(batch.rows), piece.begin - batch.begin, piece.end - batch.begin);
    for (const MatrixView* part : to.arrays()) {
      if (part->cols > 0) bytes.get_all(std::span(part->data, part->rows * part->cols));  // whole rows of a matrix
    }
    batch.missing -= piece.end - piece.begin;
    simulation.check_invalid(invalid);
    progress.advance(piece.end - piece.begin);
    for (auto ready = batches.find(next); ready != batches.end() && ready->second.missing == 0;
         ready = batches.find(next)) {
      write_simulated(*writer, simulation, ready->second.begin, view(ready->second.rows));
      const std::size_t chunk_rows = writer->layout().chunk_rows;
      writer->complete((ready->second.end + chunk_rows - 1) / chunk_rows);
      batches.erase(ready);
      ++next;
    }
  };
  const std::size_t rows_of_piece = pieces.empty() ? 1 : pieces.front().end - pieces.front().begin;
  const std::size_t ahead = 2 * (batch_rows / rows_of_piece + 1) + 2 * static_cast<std::size_t>(ranks.size());
  ranks.deal(pieces.size(), ahead, make, take);
  return invalid;
}

}  // namespace catena::simulate

#include "catena/simulate/records/given_records.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "catena/core/check.h"

namespace catena::simulate {
namespace {

void make_given(const Model& model, const RecordShape& shape, const TransitionRows& rows, Stream stream,
                TransitionLanes& lanes) {
  const std::size_t count = rows.x_next.rows;
  // Where steps are whole numbers of the simulator's, those that go on longest come first.
  std::vector<std::size_t> row(count);
  std::iota(row.begin(), row.end(), std::size_t{0});
  if (shape.step) {
    std::ranges::stable_sort(row, std::ranges::greater(), [&](std::size_t r) { return rows.step(r, 0); });
  }
  for (std::size_t l = 0; l < count; ++l) {
    for (std::size_t i = 0; i < rows.theta.cols; ++i) lanes.theta(i, l) = rows.theta(row[l], i);
    for (std::size_t i = 0; i < rows.x.cols; ++i) lanes.x(i, l) = rows.x(row[l], i);
    for (std::size_t i = 0; i < rows.u.cols; ++i) lanes.u(i, l) = rows.u(row[l], i);
    if (shape.time) lanes.time[l] = rows.time(row[l], 0);
    if (shape.step) lanes.step[l] = rows.step(row[l], 0);
  }
  make_next_states(model, shape, stream, count, lanes);
  for (std::size_t l = 0; l < count; ++l) {
    for (std::size_t i = 0; i < rows.x_next.cols; ++i) rows.x_next(row[l], i) = lanes.x_next(i, l);
  }
}

}  // namespace

void simulate_given(const Model& model, const RecordShape& shape, const TransitionRows& rows, const Streams& streams,
                    std::size_t first_block, const Parallel& parallel) {
  CATENA_ASSERT(rows.theta.cols == model.prior.size() && rows.x_next.cols == shape.target());
  CATENA_ASSERT(rows.u.cols == shape.inputs());
  std::vector<std::unique_ptr<TransitionLanes>> lanes(static_cast<std::size_t>(parallel.threads()));
  parallel.for_blocks(rows.x_next.rows, given_block_rows, [&](std::size_t begin, std::size_t end, std::size_t block) {
    auto& mine = lanes[static_cast<std::size_t>(Parallel::worker())];
    if (!mine) mine = std::make_unique<TransitionLanes>(model, given_block_rows, shape);
    make_given(model, shape, slice(rows, begin, end), streams.stream("given", first_block + block), *mine);
  });
}

std::uint64_t steps_of_record(const Model& model, const RecordShape& shape, double step) {
  if (shape.initial()) return 1;
  if (shape.step && !model.simulator.uses_step) return static_cast<std::uint64_t>(step);
  return shape.block;
}

}  // namespace catena::simulate

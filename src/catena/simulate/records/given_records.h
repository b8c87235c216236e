/// Records that start where someone says: θ, x^t, t, Δ and u of each row are given, x^(t+1), … are simulated.
/// Correction by simulation asks for them at the states of an observed series (sample/correct/).
#pragma once

#include <cstddef>
#include <cstdint>

#include "catena/core/parallel.h"
#include "catena/simulate/next_states.h"
#include "catena/simulate/transitions/columns.h"

namespace catena::simulate {

/// Rows that one call of the simulator makes, and that draw from one stream.
inline constexpr std::size_t given_block_rows = 1024;

/// x_next of all rows; the i-th block of them is a function of (streams, first_block + i) alone. Rows whose result is
/// not finite stay as they come. `rows` has the other columns of `shape`, but z is not looked at.
void simulate_given(const Model& model, const RecordShape& shape, const TransitionRows& rows, const Streams& streams,
                    std::size_t first_block, const Parallel& parallel);

/// How many single steps the record costs.
std::uint64_t steps_of_record(const Model& model, const RecordShape& shape, double step);

}  // namespace catena::simulate

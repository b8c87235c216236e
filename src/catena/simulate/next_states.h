/// What a record holds after its given state: one step, several in a row, or the last one of several. Whoever has θ,
/// x^t, t and Δ of many records in lanes makes their next states here: training sets (source.h) and records that start
/// from observed states (given_records.h).
#pragma once

#include <cstddef>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/core/state_lanes.h"
#include "catena/simulate/model.h"
#include "catena/simulate/records/record.h"

namespace catena::simulate {

/// Lanes that one thread works on, made once and used for block after block.
struct TransitionLanes {
  TransitionLanes(const Model& model, std::size_t lanes, const RecordShape& shape);
  /// For plain transitions.
  TransitionLanes(const Model& model, std::size_t lanes);

  StateLanes z, theta;
  StateLanes x, x_next;                   // mn and Mn numbers
  StateLanes u;                           // Mk numbers
  StateLanes window, next, restart;       // where inner steps are made; a new start of one lane
  AlignedVector<double> time, step, now;  // t and Δ of each lane; t of an inner step
  std::vector<std::size_t> row;           // the row of each lane within its round, where lanes are not in order
  std::vector<std::size_t> table_row;     // where each lane is in the tables of covariates, if there are any
};

/// x^(t+1), … of the first `count` lanes, whose θ, x, t, Δ and u are there. Where Δ counts whole steps of the
/// simulator, lanes must be in the order of falling Δ.
void make_next_states(const Model& model, const RecordShape& shape, Stream& stream, std::size_t count,
                      TransitionLanes& lanes);

}  // namespace catena::simulate

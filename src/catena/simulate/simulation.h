/// What simulating in memory and to a file have in common. Internal to simulate/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "catena/simulate/transitions.h"

namespace catena::simulate {

using LanesPerThread = std::vector<std::unique_ptr<TransitionLanes>>;  // one per worker, made when first used

/// A plan that was checked, bound to its model and with its proposal made.
struct Simulation {
  Simulation(const Model& model, const SimulationPlan& plan);

  double max_invalid;
  std::size_t chunk_rows;  // as in the plan
  TransitionSource source;
  std::size_t rows = 0;  // to simulate: what the budget without the proposal's cost is enough for
  nlohmann::json provenance;

  Columns<Matrix> buffer(std::size_t count) const {
    return make_columns(source.shape(), source.model().prior.size(), count);
  }
  /// Throws if `invalid` rows of all are too many.
  void check_invalid(std::uint64_t invalid) const;
  /// Makes block first_block + index into its place in `to`, whose first row is that of first_block.
  void make_blocks(std::size_t first_block, const TransitionRows& to, std::vector<std::size_t>& invalid,
                   std::size_t index, LanesPerThread& lanes) const;

 private:
  static ProposalPtr proposal_of(const Model& model, const SimulationPlan& plan);
};

bool row_is_finite(ConstMatrixView rows, std::size_t r);
/// Moves the rows with a finite x^(t+1) to the front, in their order; returns how many there are.
std::size_t drop_invalid_rows(const TransitionRows& rows);

}  // namespace catena::simulate

/// Sets of whole series (series_set.h), simulated: T transitions in a row with one θ for each series. They start where
/// transitions start, from the proposal, or from the model's initial states. A series that starts from the proposal is
/// a record of T transitions (record.h, M = T), so that both are made alike, and the budget counts transitions in both.
#pragma once

#include <cstddef>
#include <vector>

#include "catena/simulate/transitions/transitions.h"
#include "catena/simulate/whole_series/series_set.h"

namespace catena::simulate {

struct SeriesPlan {
  std::size_t transitions = 10;  // T
  bool from_initial = false;     // x⁰ is the model's, which may depend on θ, and not the proposal's
};

/// Series with a state that is not finite are dropped and counted in the provenance ("invalid"). `plan.records` and
/// `plan.shard` are not used. Throws InputError for a simulator with covariates, and as simulate() does.
SeriesSet simulate_series_set(const Model& model, const SimulationPlan& plan, const SeriesPlan& series,
                              const Parallel& parallel, Progress& progress);

/// Records of M transitions in a row as series of m + M states, in their order.
SeriesSet series_of(const TransitionSet& records);

/// The other way round: the single transitions of all series, one series after another. Series r has the rows
/// offsets[r] … offsets[r + 1] − 1. Throws InputError, whose sentence begins with `function`, if a series has none.
struct SeriesTransitions {
  TransitionSet set;
  std::vector<std::size_t> offsets = {0};
};
SeriesTransitions transitions_of(std::string_view function, const SeriesSet& set);

}  // namespace catena::simulate

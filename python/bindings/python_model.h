/// A model whose simulator, initial state and proposal are Python callables. The callables take and return float64
/// arrays (python/catena/simulate.py wraps the user's), may be called from any thread, and must outlive the model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "binding.h"
#include "catena/simulate/model.h"
#include "catena/simulate/proposal.h"

namespace catena::python {

/// step(theta [N, d], x [N, n], t [N] or None, seed) → x_next [N, n].
/// initial_state(count, seed) → x [count, n], or None.
simulate::Model python_model(const std::string& name, const simulate::Prior& prior,
                             std::vector<std::string> state_names, nb::handle step, nb::handle initial_state,
                             bool uses_time);

/// draw(count, seed) → x [count, n], or (x, t [count]) where the simulator uses time; `record` is what files keep of
/// it.
simulate::ProposalPtr python_proposal(nb::handle draw, nlohmann::json record);

}  // namespace catena::python

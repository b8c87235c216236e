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

/// step(theta [N, d], x [N, mn], t [N] or None, dt [N] or None, u [N, k] or None, seed) → x_next [N, n]; of a chain of
/// order m, x has the latest state first. initial_state: None, or draw(count, seed) → x [count, mn], or, if it depends
/// on θ, draw(theta [N, d], seed) → x [N, mn]. `declared`: uses_time, uses_step, initial_depends_on_theta (true or
/// false), order (m), covariates (their names).
simulate::Model python_model(const std::string& name, const prior::Prior& prior, std::vector<std::string> state_names,
                             nb::handle step, nb::handle initial_state, const nlohmann::json& declared);

/// draw(count, seed) → x [count, mn], or (x, t [count]) where the simulator uses time; `record` is what files keep of
/// it.
simulate::ProposalPtr python_proposal(nb::handle draw, nlohmann::json record);

}  // namespace catena::python

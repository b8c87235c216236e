/// Small training sets with known answers, for the tests of train/ and of what is built on it.
#pragma once

#include "catena/simulate/transitions.h"
#include "catena/tasks/task.h"

namespace catena::train {

inline simulate::TransitionSet transitions_of(std::string_view task, std::uint64_t budget,
                                              const nlohmann::json& options, std::uint64_t seed = 3) {
  simulate::SimulationPlan plan;
  plan.budget = budget;
  plan.seed = seed;
  return simulate::simulate(tasks::make_task(task, options), plan, Parallel(2), silent_progress());
}

}  // namespace catena::train

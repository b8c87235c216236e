/// The step of gaussian_rw and of ti_gaussian_rw: x' = c_t x + θ + ε, ε ~ N(0, I), with c_t = c for the one and
/// c_t = c + 1/(t+1) for the other.
#pragma once

#include "catena/core/random.h"
#include "catena/simulate/simulator.h"

namespace catena::tasks::parts {

inline constexpr double walk_coefficient = 0.9;  // c

/// One transition of every lane.
void gaussian_walk_step(const simulate::StepInput& input, Stream& stream, StateBlock next);
void timed_gaussian_walk_step(const simulate::StepInput& input, Stream& stream, StateBlock next);

}  // namespace catena::tasks::parts

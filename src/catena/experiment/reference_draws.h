/// The exact posterior as experiments compare with it.
#pragma once

#include <span>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/tasks/observe.h"

namespace catena::experiment {

/// n draws given series that share θ, whose missing states are rows of NaN; one a row, from the user's cache where they
/// are there. Throws InputError if their chains are not healthy.
Matrix reference_draws(const tasks::Task& task, std::span<const tasks::Observation> series, std::size_t n,
                       const Parallel& parallel);

}  // namespace catena::experiment

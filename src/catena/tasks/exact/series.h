/// What the rooms' likelihoods do with a series before they use it.
#pragma once

#include <cstddef>
#include <string_view>

#include "catena/core/array.h"

namespace catena::tasks::exact {

/// The border check that all tasks share: (T + 1) × states, T ≥ 1, every value finite. Throws InputError.
void check_series(std::string_view task, ConstMatrixView series, std::size_t states);

/// A copy of the series, for likelihoods that keep it.
Matrix copy_series(ConstMatrixView series);

}  // namespace catena::tasks::exact

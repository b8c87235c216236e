/// The border of every metric: two sets of draws, one draw a row, checked once and with one sentence each.
#pragma once

#include <cstddef>
#include <string_view>

#include "catena/core/array.h"

namespace catena::evaluate {

/// Both sets have the same number of columns (at least one), at least `least_rows` rows each, and finite values.
void check_samples(std::string_view function, ConstMatrixView a, ConstMatrixView b, std::size_t least_rows);

/// The same for one set.
void check_sample(std::string_view function, std::string_view name, ConstMatrixView sample, std::size_t least_rows);

}  // namespace catena::evaluate

/// Which parameters the pair plot shows: all, or, where that would be too many to read, the most telling ones.
#pragma once

#include <cstddef>
#include <vector>

#include "catena/report/results.h"

namespace catena::report {

inline constexpr std::size_t most_pairs_shown = 6;  // 6 × 62 pixels still fit a phone

/// Columns of the draws, ascending.
std::vector<std::size_t> pairs_shown(const DrawSet& posterior);

}  // namespace catena::report

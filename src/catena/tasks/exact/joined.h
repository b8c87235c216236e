/// The likelihood of several series, or of pieces of one, with the same θ: the product of theirs.
#pragma once

#include <memory>
#include <vector>

#include "catena/tasks/likelihood.h"

namespace catena::tasks::exact {

/// The part itself if there is but one. All parts belong to one task.
std::unique_ptr<SeriesLikelihood> joined_likelihood(std::vector<std::unique_ptr<SeriesLikelihood>> parts);

}  // namespace catena::tasks::exact

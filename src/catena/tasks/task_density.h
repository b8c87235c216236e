/// The exact likelihood of a built-in task for one series, with the task's options: how a task finds its density.
#pragma once

#include <memory>
#include <string_view>

#include "catena/tasks/density.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

/// The version of the densities, for caches: raised whenever one of them changes by more than rounding.
inline constexpr int density_version = 1;

/// Whether the density of the task of that name is known.
bool has_density(std::string_view task);

/// The likelihood of `series` under `task`. Throws InputError for a task whose density is not known and for a series
/// that cannot come from the task.
std::unique_ptr<SeriesLikelihood> series_likelihood(const Task& task, ConstMatrixView series);

}  // namespace catena::tasks

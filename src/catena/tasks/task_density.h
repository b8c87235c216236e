/// The exact likelihood of a built-in task for one series, with the task's options: how a task finds its density.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "catena/simulate/paths.h"
#include "catena/tasks/density.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

/// The version of the densities, for caches: raised whenever one of them changes by more than rounding.
inline constexpr int density_version = 1;

/// Whether the density of the task of that name is known.
bool has_density(std::string_view task);

/// Which steps between observed states it is known for.
simulate::KnownSteps density_steps(std::string_view task);

/// The likelihood of `series` under `task`. Throws InputError for a task whose density is not known and for a series
/// that cannot come from the task.
std::unique_ptr<SeriesLikelihood> series_likelihood(const Task& task, ConstMatrixView series);

/// That of several paths with the same θ; steps of more than 1 only where the density over them is known.
std::unique_ptr<SeriesLikelihood> series_likelihood(const Task& task, std::span<const simulate::Path> paths);

}  // namespace catena::tasks

#include "catena/experiment/reference_draws.h"

#include <fmt/format.h>

#include "catena/evaluate/reference/file.h"
#include "catena/tasks/likelihood.h"

namespace catena::experiment {
namespace {

constexpr std::uint64_t reference_seed = 1;

}  // namespace

Matrix reference_draws(const tasks::Task& task, std::span<const tasks::Observation> series, std::size_t n,
                       const Parallel& parallel) {
  std::vector<simulate::SeriesView> views;
  for (const tasks::Observation& one : series) views.push_back({one.series, one.times});
  const std::vector<simulate::Path> paths =
      simulate::paths_of("experiment", views, task.simulator.states(), tasks::likelihood_steps(task.name), {});
  const evaluate::FoundReference found = evaluate::find_reference(
      task, paths, n, reference_seed, {}, evaluate::ReferenceCache::of_user(), parallel, silent_progress());
  if (!found.group) {
    throw InputError(
        fmt::format("experiment: the reference of {} did not become healthy: {}", task.name, advice(found.outcome)));
  }
  Matrix draws(n, task.prior.size());
  for (std::size_t i = 0; i < draws.cols(); ++i) {
    const auto& values =
        std::get<std::vector<double>>(found.group->group("posterior").variable(task.prior.names()[i]).values);
    for (std::size_t k = 0; k < n; ++k) draws(k, i) = values.at(k);
  }
  return draws;
}

}  // namespace catena::experiment

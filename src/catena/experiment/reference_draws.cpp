#include "catena/experiment/reference_draws.h"

#include <fmt/format.h>

#include "catena/evaluate/reference/file.h"
#include "catena/sample/draws.h"
#include "catena/tasks/likelihood.h"

namespace catena::experiment {
namespace {

constexpr std::uint64_t reference_seed = 1;

}  // namespace

Matrix reference_draws(const tasks::Task& task, std::span<const tasks::Observation> series, std::size_t n,
                       const Parallel& parallel) {
  const std::vector<simulate::Path> paths =
      simulate::paths_of("experiment", views_of(series), task.simulator.states(), tasks::likelihood_steps(task.name),
                         {}, task.simulator.covariates());
  const evaluate::FoundReference found = evaluate::find_reference(
      task, paths, n, reference_seed, {}, evaluate::ReferenceCache::of_user(), parallel, silent_progress());
  if (!found.group) {
    throw InputError(fmt::format("experiment: the reference of {} did not become healthy: {}", task.name,
                                 advice(found.outcome, "reference")));
  }
  return sample::in_order_of(task.prior.names(), sample::draws_in(*found.group, "the reference")).values;
}

}  // namespace catena::experiment

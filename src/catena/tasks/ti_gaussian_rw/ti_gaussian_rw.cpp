#include "catena/tasks/ti_gaussian_rw/ti_gaussian_rw.h"

#include "catena/tasks/exact/conjugate_normal.h"
#include "catena/tasks/exact/series.h"
#include "catena/tasks/parts/gaussian_walk.h"
#include "catena/tasks/parts/make.h"

namespace catena::tasks::ti_gaussian_rw {

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series, double first_time) {
  const auto dim = static_cast<std::size_t>(options.dim);
  exact::check_series("ti_gaussian_rw", series, dim);
  std::vector<exact::NormalFactor> factors;
  for (std::size_t t = 0; t + 1 < series.rows; ++t) {
    factors.push_back({.next = series.row(t + 1),
                       .now = series.row(t),
                       .coefficient = parts::walk_coefficient + 1 / (first_time + static_cast<double>(t + 1))});
  }
  return exact::conjugate_normal_likelihood(factors, dim);
}

Task make(const Options& options) {
  check_config("ti_gaussian_rw", options);
  const auto dim = static_cast<std::size_t>(options.dim);
  Task task = parts::make_task_of("ti_gaussian_rw", options, dim, simulate::numbered_names("x", dim),
                                  parts::timed_gaussian_walk_step);
  task.simulator.uses_time = true;
  task.initial_state = simulate::fixed_state(std::vector<double>(dim, 0.0));
  task.fixed_proposal = parts::normal_proposal(dim, options.proposal_sd, static_cast<std::size_t>(options.times));
  task.proposal = task.fixed_proposal;  // it covers the times of a series
  return task;
}

TaskEntry entry() {
  return parts::entry_of(
      "ti_gaussian_rw", "x' = (0.9 + 1/(t+1)) x + theta + noise", make,
      [](const Options& options, const Run& run) { return likelihood(options, run.states, run.first_time); });
}

}  // namespace catena::tasks::ti_gaussian_rw

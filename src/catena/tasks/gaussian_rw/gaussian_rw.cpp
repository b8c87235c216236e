#include "catena/tasks/gaussian_rw/gaussian_rw.h"

#include <cmath>

#include "catena/tasks/exact/conjugate_normal.h"
#include "catena/tasks/exact/series.h"
#include "catena/tasks/parts/gaussian_walk.h"
#include "catena/tasks/parts/make.h"

namespace catena::tasks::gaussian_rw {

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series,
                                             std::span<const double> steps) {
  const auto dim = static_cast<std::size_t>(options.dim);
  exact::check_series("gaussian_rw", series, dim);
  constexpr double c = parts::walk_coefficient;
  std::vector<exact::NormalFactor> factors;
  for (std::size_t t = 0; t + 1 < series.rows; ++t) {
    exact::NormalFactor factor{.next = series.row(t + 1), .now = series.row(t), .coefficient = c};
    const double k = t < steps.size() ? steps[t] : 1;
    if (k != 1) {
      factor.coefficient = std::pow(c, k);
      factor.gain = (1 - std::pow(c, k)) / (1 - c);
      factor.variance = (1 - std::pow(c, 2 * k)) / (1 - c * c);
    }
    factors.push_back(factor);
  }
  return exact::conjugate_normal_likelihood(factors, dim);
}

Task make(const Options& options) {
  check_config("gaussian_rw", options);
  const auto dim = static_cast<std::size_t>(options.dim);
  Task task =
      parts::make_task_of("gaussian_rw", options, dim, simulate::numbered_names("x", dim), parts::gaussian_walk_step);
  task.initial_state = simulate::fixed_state(std::vector<double>(dim, 0.0));
  task.fixed_proposal = parts::normal_proposal(dim, options.proposal_sd);
  return task;
}

TaskEntry entry() {
  return parts::entry_of(
      "gaussian_rw", "x' = 0.9 x + theta + noise", make,
      [](const Options& options, const Run& run) {
        return likelihood(options, run.states, std::vector<double>(run.states.rows - 1, run.step));
      },
      parts::Steps::any);
}

}  // namespace catena::tasks::gaussian_rw

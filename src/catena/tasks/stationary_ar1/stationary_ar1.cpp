#include "catena/tasks/stationary_ar1/stationary_ar1.h"

#include <cmath>

#include "catena/core/check.h"
#include "catena/tasks/exact/conjugate_normal.h"
#include "catena/tasks/parts/make.h"

namespace catena::tasks::stationary_ar1 {

namespace {

constexpr double c = coefficient;

void step(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  for (std::size_t i = 0; i < next.features; ++i) {
    stream.fill_normal({next.feature(i), next.lanes});
    for (std::size_t l = 0; l < next.lanes; ++l) next(i, l) += c * input.state(i, l) + input.theta(i, l);
  }
}

void draw_initial(ConstStateBlock theta, Stream& stream, StateBlock state) {
  const double sd = 1 / std::sqrt(1 - c * c);
  for (std::size_t i = 0; i < state.features; ++i) {
    stream.fill_normal({state.feature(i), state.lanes});
    for (std::size_t l = 0; l < state.lanes; ++l) state(i, l) = theta(i, l) / (1 - c) + sd * state(i, l);
  }
}

}  // namespace

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series, bool from_start) {
  const auto dim = static_cast<std::size_t>(options.dim);
  check::equal("stationary_ar1", "the number of columns of the series", series.cols, dim);
  check::at_least("stationary_ar1", "the number of states in the series", series.rows,
                  std::size_t{from_start ? 1U : 2U});
  for (std::size_t t = 0; t < series.rows; ++t) {
    check::all_finite("stationary_ar1", fmt::format("series[{}]", t), series.row(t));
  }
  std::vector<exact::NormalFactor> factors;
  // x⁰ = θ/(1−c) + ε/√(1−c²)
  if (from_start) factors.push_back({series.row(0), {}, 0, 1 / (1 - c), 1 / (1 - c * c)});
  for (std::size_t t = 0; t + 1 < series.rows; ++t) {
    factors.push_back({.next = series.row(t + 1), .now = series.row(t), .coefficient = c});
  }
  return exact::conjugate_normal_likelihood(factors, dim);
}

Task make(const Options& options) {
  check_config("stationary_ar1", options);
  const auto dim = static_cast<std::size_t>(options.dim);
  Task task = parts::make_task_of("stationary_ar1", options, dim, simulate::numbered_names("x", dim), step);
  task.initial_given_theta = draw_initial;
  task.fixed_proposal = parts::normal_proposal(dim, options.proposal_sd);
  return task;
}

TaskEntry entry() {
  return parts::entry_of(
      "stationary_ar1", "gaussian_rw with x0 from its stationary distribution", make,
      [](const Options& options, const Run& run) { return likelihood(options, run.states, run.from_start); });
}

}  // namespace catena::tasks::stationary_ar1

#include "catena/tasks/seasonal_ar/seasonal_ar.h"

#include <cmath>
#include <numbers>

#include "catena/tasks/exact/regression.h"
#include "catena/tasks/exact/series.h"
#include "catena/tasks/parts/make.h"

namespace catena::tasks::seasonal_ar {

namespace {

double season(double time, double period) { return std::cos(2 * std::numbers::pi * time / period); }

}  // namespace

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series, double first_time) {
  exact::check_series("seasonal_ar", series, 1);
  const auto transitions = static_cast<Eigen::Index>(series.rows - 1);
  Eigen::MatrixXd regressors(transitions, 2);
  Eigen::VectorXd response(transitions);
  for (Eigen::Index t = 0; t < transitions; ++t) {
    const auto row = static_cast<std::size_t>(t);
    regressors(t, 0) = 1;
    regressors(t, 1) = season(first_time + static_cast<double>(t), options.period);
    response[t] = series(row + 1, 0) - coefficient * series(row, 0);
  }
  return exact::regression_likelihood(std::move(regressors), std::move(response), noise_sd * noise_sd);
}

Task make(const Options& options) {
  check_config("seasonal_ar", options);
  const double period = options.period;
  Task task = parts::make_task_of(
      "seasonal_ar", options, 2, {"x"}, [period](const simulate::StepInput& input, Stream& stream, StateBlock next) {
        stream.fill_normal({next.feature(0), next.lanes});
        for (std::size_t l = 0; l < next.lanes; ++l) {
          next(0, l) = coefficient * input.state(0, l) + input.theta(0, l) +
                       input.theta(1, l) * season(input.time[l], period) + noise_sd * next(0, l);
        }
      });
  task.simulator.uses_time = true;
  task.initial_state = simulate::fixed_state({0.0});
  task.fixed_proposal = parts::normal_proposal(1, options.proposal_sd, static_cast<std::size_t>(options.times));
  task.proposal = task.fixed_proposal;  // it covers the times of a series
  return task;
}

TaskEntry entry() {
  return parts::entry_of(
      "seasonal_ar", "an autoregression with a season: x' = 0.8 x + theta_1 + theta_2 cos(2 pi t/12) + noise", make,
      [](const Options& options, const Run& run) { return likelihood(options, run.states, run.first_time); });
}

}  // namespace catena::tasks::seasonal_ar

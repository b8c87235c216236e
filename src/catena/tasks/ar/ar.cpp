#include "catena/tasks/ar/ar.h"

#include "catena/core/check.h"
#include "catena/tasks/exact/regression.h"
#include "catena/tasks/parts/make.h"

namespace catena::tasks::ar {

namespace {

void step(const simulate::StepInput& input, Stream& stream, StateBlock next) {
  stream.fill_normal({next.feature(0), next.lanes});
  for (std::size_t j = 0; j < input.theta.features; ++j) {
    for (std::size_t l = 0; l < next.lanes; ++l) next(0, l) += scale * input.theta(j, l) * input.state(j, l);
  }
}

}  // namespace

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series) {
  const auto order = static_cast<std::size_t>(options.order);
  check::that(series.rows > order, "ar", "the number of states in the series", series.rows,
              fmt::format("at least {}: {} to start from and one transition", order + 1, order));
  check::equal("ar", "the number of columns of the series", series.cols, std::size_t{1});
  for (std::size_t t = 0; t < series.rows; ++t) check::all_finite("ar", fmt::format("series[{}]", t), series.row(t));
  // x^(t+1) | x^t, …, x^(t−m+1) ~ N(s θ·(x^t, …, x^(t−m+1)), 1)
  const auto transitions = static_cast<Eigen::Index>(series.rows - order);
  Eigen::MatrixXd windows(transitions, static_cast<Eigen::Index>(order));
  Eigen::VectorXd next(transitions);
  for (std::size_t t = 0; t + order < series.rows; ++t) {
    const auto row = static_cast<Eigen::Index>(t);
    next[row] = series(t + order, 0);
    for (std::size_t j = 0; j < order; ++j) {
      windows(row, static_cast<Eigen::Index>(j)) = scale * series(t + order - 1 - j, 0);
    }
  }
  return exact::regression_likelihood(std::move(windows), std::move(next), 1);
}

Task make(const Options& options) {
  check_config("ar", options);
  const auto order = static_cast<std::size_t>(options.order);
  Task task = parts::make_task_of("ar", options, order, {"x"}, step);
  task.simulator.order = order;
  std::vector<double> start(order, 0.0);
  start.front() = 1;  // the latest: with zeros alone the first transition would say nothing
  task.initial_state = simulate::fixed_state(std::move(start));
  task.fixed_proposal = parts::normal_proposal(1, options.proposal_sd);
  return task;
}

TaskEntry entry() {
  return parts::entry_of("ar", "an autoregression of order m, its coefficients unknown", make,
                         [](const Options& options, const Run& run) { return likelihood(options, run.states); });
}

}  // namespace catena::tasks::ar

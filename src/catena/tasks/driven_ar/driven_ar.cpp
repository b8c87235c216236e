#include "catena/tasks/driven_ar/driven_ar.h"

#include <cmath>

#include "catena/core/check.h"
#include "catena/tasks/exact/regression.h"
#include "catena/tasks/exact/series.h"
#include "catena/tasks/parts/make.h"

namespace catena::tasks::driven_ar {

namespace {

Matrix own_inputs() {
  Matrix u(input_rows, 1);
  Stream stream = Streams(input_seed).stream("driven_ar");
  double last = stream.normal();
  for (std::size_t t = 0; t < input_rows; ++t) {
    u(t, 0) = last;
    last = input_coefficient * last + std::sqrt(1 - input_coefficient * input_coefficient) * stream.normal();
  }
  return u;
}

}  // namespace

std::unique_ptr<SeriesLikelihood> likelihood(const Options&, ConstMatrixView series, ConstMatrixView covariates) {
  exact::check_series("driven_ar", series, 1);
  check::equal("driven_ar", "the number of covariates of the series", covariates.cols, std::size_t{1});
  check::equal("driven_ar", "the number of rows of the covariates of the series", covariates.rows, series.rows);
  const auto transitions = static_cast<Eigen::Index>(series.rows - 1);
  Eigen::MatrixXd regressors(transitions, 2);
  Eigen::VectorXd response(transitions);
  for (Eigen::Index t = 0; t < transitions; ++t) {
    const auto row = static_cast<std::size_t>(t);
    check::finite("driven_ar", "u of a row from which a transition starts", covariates(row, 0));
    regressors(t, 0) = 1;
    regressors(t, 1) = covariates(row, 0);
    response[t] = series(row + 1, 0) - coefficient * series(row, 0);
  }
  return exact::regression_likelihood(std::move(regressors), std::move(response), noise_sd * noise_sd);
}

Task make(const Options& options) {
  check_config("driven_ar", options);
  Task task = parts::make_task_of("driven_ar", options, 2, {"x"},
                                  [](const simulate::StepInput& input, Stream& stream, StateBlock next) {
                                    stream.fill_normal({next.feature(0), next.lanes});
                                    for (std::size_t l = 0; l < next.lanes; ++l) {
                                      next(0, l) = coefficient * input.state(0, l) + input.theta(0, l) +
                                                   input.theta(1, l) * input.covariates(0, l) + noise_sd * next(0, l);
                                    }
                                  });
  task.simulator.covariate_names = {"u"};
  task.covariates = own_inputs();
  task.initial_state = simulate::fixed_state({0.0});
  task.fixed_proposal = parts::normal_proposal(1, options.proposal_sd);
  return task;
}

TaskEntry entry() {
  return parts::entry_of(
      "driven_ar", "an autoregression with a covariate: x' = 0.8 x + theta_1 + theta_2 u + noise", make,
      [](const Options& options, const Run& run) { return likelihood(options, run.states, run.covariates); });
}

}  // namespace catena::tasks::driven_ar

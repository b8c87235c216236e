#include "catena/experiment/exact_scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/core/errors.h"
#include "catena/core/random.h"
#include "catena/tasks/observe.h"

namespace catena::experiment::exact_scores_test {
namespace {

constexpr double a = 0.3;

/// log p(θ_a | x^t, x^(t+1)) up to a constant: the two normals of v given ẑ, and θ_a's own.
double log_local_posterior(bool both_signs, double alpha, double s, const Matrix& series, std::size_t t,
                           std::span<const double> theta_a) {
  const diffusion::Schedule schedule;
  const double m = schedule.m(a), variance = m * m + schedule.sigma_squared(a);
  const double p = 1 / (s * s + schedule.sigma_squared(a) / variance);
  double plus = 0, minus = 0, prior = 0;
  for (std::size_t i = 0; i < theta_a.size(); ++i) {
    const double v = series(t + 1, i) - alpha * series(t, i), z_hat = m / variance * theta_a[i];
    plus += -0.5 * p * (v - z_hat) * (v - z_hat);
    minus += -0.5 * p * (v + z_hat) * (v + z_hat);
    prior += -0.5 * theta_a[i] * theta_a[i] / variance;
  }
  return prior + (both_signs ? std::log(std::exp(plus) + std::exp(minus)) : plus);
}

}  // namespace

// Central differences of step h are off by h² times a third derivative and by rounding over h: 1e-6 for these sizes.
TEST(ExactScores, AreGradientsOfTheLocalPosteriorsAndTheirJacobians) {
  for (const std::string& name : tasks_with_exact_scores()) {
    const tasks::Task task = tasks::make_task(name, {{"dim", 2}});
    const bool both = name == "mixture_rw";
    const double s = both ? task.options.at("sigma").get<double>() : 1, alpha = both ? 1 : 0.9, h = 1e-5;
    const tasks::Observation observation = tasks::observe("test", task, 3, 5);
    const ExactScores source(task, observation.series, diffusion::Schedule());
    ASSERT_EQ(source.transitions(), 3U);
    Matrix theta(1, 2), score(3, 2), jacobian(3, 4), moved(3, 2);
    theta(0, 0) = 0.4, theta(0, 1) = -0.7;
    source.scores_and_jacobians(theta, a, 0, 3, score, jacobian);
    for (std::size_t j = 0; j < 2; ++j) {
      Matrix up = theta, down = theta;
      up(0, j) += h, down(0, j) -= h;
      Matrix score_up(3, 2), score_down(3, 2);
      source.scores(up, a, 0, 3, score_up);
      source.scores(down, a, 0, 3, score_down);
      for (std::size_t t = 0; t < 3; ++t) {
        const double slope = (log_local_posterior(both, alpha, s, observation.series, t, up.row(0)) -
                              log_local_posterior(both, alpha, s, observation.series, t, down.row(0))) /
                             (2 * h);
        EXPECT_NEAR(score(t, j), slope, 1e-6) << name;
        for (std::size_t i = 0; i < 2; ++i) {
          EXPECT_NEAR(jacobian(t, 2 * i + j), (score_up(t, i) - score_down(t, i)) / (2 * h), 1e-6) << name;
        }
      }
    }
  }
}

TEST(ExactScores, AreRefusedForOtherTasks) {
  const tasks::Task task = tasks::make_task("sir");
  const tasks::Observation observation = tasks::observe("test", task, 2, 5);
  EXPECT_THROW(ExactScores(task, observation.series, diffusion::Schedule()), InputError);
}

}  // namespace catena::experiment::exact_scores_test

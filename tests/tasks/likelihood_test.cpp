// The likelihoods in closed form against their definitions, written out the long way.

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "catena/core/errors.h"
#include "catena/tasks/exact/normal.h"
#include "catena/tasks/parts/make.h"
#include "evaluate/reference_twins.h"

namespace catena::tasks::likelihood_test {

/// log N(x'; F^k x, Σ_{i<k} F^i Q (F^i)ᵀ) with the powers multiplied one after the other.
double slow_log_density(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double dt, int steps,
                        const Eigen::VectorXd& now, const Eigen::VectorXd& next) {
  const auto n = a.rows();
  const Eigen::MatrixXd f = Eigen::MatrixXd::Identity(n, n) + a * dt;
  Eigen::MatrixXd power = Eigen::MatrixXd::Identity(n, n), covariance = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < steps; ++i) {
    covariance += power * b * b.transpose() * dt * power.transpose();
    power = f * power;
  }
  const Eigen::VectorXd residual = next - power * now;
  return -0.5 * (residual.dot(covariance.inverse() * residual) + std::log(covariance.determinant()) +
                 static_cast<double>(n) * std::log(2 * std::numbers::pi));
}

TEST(LinearSdeLikelihood, EqualsTheSumOverPowersForTwoAndThreeStates) {
  for (const std::size_t n : {2, 3}) {
    const twins::Twin twin = twins::linear_sde(n);
    Stream stream = Streams(1).stream("linear", n);
    const twins::State theta = twins::prior_draw(twin, stream);
    const Matrix series = twins::series(twin, theta, 5, stream);
    std::vector<double> terms(5);
    twin.likelihood(series)->log_transitions(theta, {}, terms);
    const auto m = static_cast<Eigen::Index>(n);
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const RowMajor m1 = Eigen::Map<const RowMajor>(theta.data(), m, m);
    const RowMajor m2 = Eigen::Map<const RowMajor>(theta.data() + n * n, m, m);
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(m, m);
    for (std::size_t t = 0; t < 5; ++t) {
      const Eigen::Map<const Eigen::VectorXd> now(series.row(t).data(), m), next(series.row(t + 1).data(), m);
      EXPECT_NEAR(terms[t], slow_log_density(0.5 * m1 - 2 * identity, 0.5 * m2 + 0.5 * identity, 0.001, 20, now, next),
                  1e-9);
    }
  }
}

TEST(PeriodicSdeLikelihood, EqualsTheSumOverPowers) {
  const twins::Twin twin = twins::periodic_sde();
  Stream stream = Streams(2).stream("periodic");
  const twins::State theta = {1.2, -0.7};
  const Matrix series = twins::series(twin, theta, 5, stream);
  std::vector<double> terms(5);
  twin.likelihood(series)->log_transitions(theta, {}, terms);
  Eigen::Matrix2d a;
  a << 0, -1.44, 0.49, 0;
  for (std::size_t t = 0; t < 5; ++t) {
    const Eigen::Vector2d now(series(t, 0), series(t, 1)), next(series(t + 1, 0), series(t + 1, 1));
    EXPECT_NEAR(terms[t], slow_log_density(a, 0.1 * Eigen::Matrix2d::Identity(), 0.005, 20, now, next), 1e-9);
  }
}

TEST(MixtureRwLikelihood, EqualsTheSumOfTwoGaussians) {
  const twins::Twin twin = twins::mixture_rw(2);
  Stream stream = Streams(3).stream("mixture");
  const twins::State theta = {0.4, -1.1};
  const Matrix series = twins::series(twin, theta, 5, stream);
  std::vector<double> terms(5);
  twin.likelihood(series)->log_transitions(theta, {}, terms);
  for (std::size_t t = 0; t < 5; ++t) {
    double plus = 0.5, minus = 0.5;
    for (std::size_t i = 0; i < 2; ++i) {
      plus *= std::exp(exact::log_normal_density(series(t + 1, i), series(t, i) + theta[i], 0.5));
      minus *= std::exp(exact::log_normal_density(series(t + 1, i), series(t, i) - theta[i], 0.5));
    }
    EXPECT_NEAR(terms[t], std::log(plus + minus), 1e-12);
  }
}

TEST(GaussianRwLikelihood, HasThePosteriorOfTheFormula) {
  // Two transitions from 0: r = (1, 2 − 0.9) = (1, 1.1); mean 2.1/3, variance 1/3.
  Matrix series(3, 1);
  series(1, 0) = 1;
  series(2, 0) = 2;
  const auto posterior = gaussian_rw::likelihood({.dim = 1}, series)->closed_form_posterior();
  ASSERT_TRUE(posterior.has_value());
  EXPECT_NEAR(posterior->mean[0], 0.7, 1e-15);
  EXPECT_NEAR(posterior->covariance(0, 0), 1.0 / 3, 1e-15);
  // Time-inhomogeneous: coefficients 1.9 and 1.4.
  const auto inhomogeneous = ti_gaussian_rw::likelihood({.dim = 1}, series)->closed_form_posterior();
  EXPECT_NEAR(inhomogeneous->mean[0], (1 + 2 - 1.4) / 3, 1e-15);
}

TEST(EveryLikelihood, IsTheSameAtAnEquivalentPoint) {
  for (const twins::Twin& twin :
       {twins::mixture_rw(5), twins::periodic_sde(), twins::linear_sde(2), twins::linear_sde(3)}) {
    Stream stream = Streams(4).stream(twin.name);
    twins::State theta = twins::prior_draw(twin, stream);
    const auto likelihood = twin.likelihood(twins::series(twin, theta, 10, stream));
    const double before = likelihood->log_likelihood(theta);
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(likelihood->move_to_equivalent(theta, stream));
      EXPECT_NEAR(likelihood->log_likelihood(theta), before, 1e-8 * (1 + std::abs(before))) << twin.name;
    }
  }
}

TEST(EveryLikelihood, HasATwin) {
  const std::vector<twins::Twin> all = twins::all();
  for (const TaskEntry& entry : registry()) {
    EXPECT_EQ(has_likelihood(entry.name), entry.likelihood != nullptr) << entry.name;
    const bool has_twin =
        std::ranges::any_of(all, [&](const twins::Twin& twin) { return twin.name.starts_with(entry.name); });
    EXPECT_EQ(has_likelihood(entry.name), has_twin) << entry.name;
  }
  EXPECT_FALSE(has_likelihood("no_such_task"));
  EXPECT_THROW(likelihood_steps("no_such_task"), InputError);
}

TEST(EveryLikelihood, IsKnownOverTheStepsThatItsEntrySays) {
  for (const TaskEntry& entry : registry()) EXPECT_EQ(likelihood_steps(entry.name).only_one(), !entry.any_step);
  EXPECT_FALSE(likelihood_steps("linear_sde").only_one());
  EXPECT_TRUE(likelihood_steps("sir").only_one());
}

TEST(TaskEntry, OfATaskWithoutALikelihoodHasNone) {
  const TaskEntry entry = parts::entry_of("sir", "without", sir::make, nullptr);
  EXPECT_FALSE(entry.likelihood);
  EXPECT_FALSE(entry.any_step);
  EXPECT_EQ(entry.make(nlohmann::json::object()).simulator.states(), 3U);
}

/// However the sum over transitions is computed.
TEST(EveryLikelihood, IsTheSumOfItsTransitions) {
  int exact = 0;
  for (const twins::Twin& twin : twins::all()) {
    Stream stream = Streams(6).stream(twin.name);
    const twins::State truth = twins::prior_draw(twin, stream);
    const auto likelihood = twin.likelihood(twins::series(twin, truth, 60, stream));
    if (likelihood->normals_per_transition() != 0) continue;
    ++exact;
    for (int i = 0; i < 5; ++i) {
      const twins::State theta = i == 0 ? truth : twins::prior_draw(twin, stream);
      std::vector<double> terms(likelihood->transitions());
      likelihood->log_transitions(theta, {}, terms);
      double sum = 0, size = 1;
      for (const double term : terms) sum += term, size += std::abs(term);
      if (std::isinf(sum)) {
        EXPECT_EQ(likelihood->log_likelihood(theta), sum) << twin.name;
      } else {
        EXPECT_NEAR(likelihood->log_likelihood(theta), sum, 1e-11 * size) << twin.name;
      }
    }
  }
  EXPECT_GE(exact, 6);
}

TEST(EveryLikelihood, RefusesASeriesOfTheWrongShapeOrNotFinite) {
  for (const twins::Twin& twin : twins::all()) {
    EXPECT_THROW(twin.likelihood(Matrix(3, 7)), InputError) << twin.name;
    Stream stream = Streams(5).stream(twin.name);
    Matrix series = twins::series(twin, twins::prior_draw(twin, stream), 3, stream);
    const std::size_t too_few = twin.name.starts_with("stationary") ? 0 : 1;  // whose first state says something
    EXPECT_THROW(twin.likelihood(series.view().slice_rows(0, too_few)), InputError) << twin.name;
    // NaN is what they are for.
    series(2, 0) = twin.name.ends_with("_gaps") ? std::numeric_limits<double>::infinity() : std::nan("");
    EXPECT_THROW(twin.likelihood(series), InputError) << twin.name;
  }
}

TEST(Normal, LogOfTheDistributionFunctionIsSmoothWhereTheTailSeriesTakesOver) {
  // log Φ is concave with slope between |x| and |x| + 1/|x| at x < 0.
  for (const double x : {-29.9, -30.0, -30.1, -200.0}) {
    const double slope = (exact::log_normal_cdf(x + 1e-3) - exact::log_normal_cdf(x - 1e-3)) / 2e-3;
    EXPECT_GT(slope, -x - 1e-5);
    EXPECT_LT(slope, -x - 1 / x + 1e-5);
  }
  EXPECT_NEAR(exact::log_normal_cdf(0), -std::numbers::ln2, 1e-15);
}

}  // namespace catena::tasks::likelihood_test

// One-step mean and covariance of the linear tasks against their exact formulas, from many draws of one transition.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "catena/tasks/task.h"

namespace catena::tasks::moments_test {

namespace {

struct Moments {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

constexpr std::size_t draws = 40000;

Moments sample_moments(const Task& task, const std::vector<double>& theta, const std::vector<double>& x, double t) {
  const std::size_t n = x.size(), d = theta.size();
  StateLanes parameters(d, draws), state(n, draws), next(n, draws);
  AlignedVector<double> time(padded_lanes(draws), t);
  for (std::size_t l = 0; l < draws; ++l) {
    for (std::size_t i = 0; i < d; ++i) parameters(i, l) = theta[i];
    for (std::size_t i = 0; i < n; ++i) state(i, l) = x[i];
  }
  Stream stream = Streams(21).stream(task.name);
  task.simulator.step({parameters, state, time.data()}, stream, next);
  Eigen::MatrixXd rows(draws, n);
  for (std::size_t l = 0; l < draws; ++l) {
    for (std::size_t i = 0; i < n; ++i) rows(static_cast<Eigen::Index>(l), static_cast<Eigen::Index>(i)) = next(i, l);
  }
  Moments m;
  m.mean = rows.colwise().mean();
  const Eigen::MatrixXd centred = rows.rowwise() - m.mean.transpose();
  m.covariance = centred.transpose() * centred / static_cast<double>(draws - 1);
  return m;
}

/// Mean (I + A dt)^k x and covariance Σ_{i<k} (I + A dt)^i BBᵀ dt ((I + A dt)^i)ᵀ of k Euler steps.
Moments linear_moments(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double dt, int steps,
                       const Eigen::VectorXd& x) {
  const Eigen::MatrixXd step = Eigen::MatrixXd::Identity(a.rows(), a.cols()) + a * dt;
  Eigen::MatrixXd power = Eigen::MatrixXd::Identity(a.rows(), a.cols());
  Moments m{x, Eigen::MatrixXd::Zero(a.rows(), a.cols())};
  for (int i = 0; i < steps; ++i) {
    m.covariance += power * b * b.transpose() * dt * power.transpose();
    power = power * step;
    m.mean = step * m.mean;
  }
  return m;
}

/// 4.5 standard errors each, for Gaussian draws: sd/√N of a mean, √((Σ_ii Σ_jj + Σ_ij²)/N) of a covariance. A single
/// check fails by chance with probability 7e-6; some 60 of them give 4e-4 for the whole file, once and for all (fixed
/// seed).
void expect_moments(const Moments& found, const Moments& exact, const std::string& name) {
  for (Eigen::Index i = 0; i < exact.mean.size(); ++i) {
    const double se = std::sqrt(exact.covariance(i, i) / draws);
    EXPECT_NEAR(found.mean(i), exact.mean(i), 4.5 * se) << name;
    for (Eigen::Index j = 0; j <= i; ++j) {
      const double spread =
          exact.covariance(i, i) * exact.covariance(j, j) + exact.covariance(i, j) * exact.covariance(i, j);
      EXPECT_NEAR(found.covariance(i, j), exact.covariance(i, j), 4.5 * std::sqrt(spread / draws)) << name;
    }
  }
}

}  // namespace

TEST(EveryLinearTask, HasTheExactMeanAndCovarianceOfOneTransition) {
  using Eigen::MatrixXd;
  using Eigen::VectorXd;
  {
    const Task task = make_task("gaussian_rw", {{"dim", 2}});
    expect_moments(sample_moments(task, {0.5, -1}, {3, -4}, 0),
                   {Eigen::Vector2d(0.9 * 3 + 0.5, 0.9 * -4 - 1), MatrixXd::Identity(2, 2)}, "gaussian_rw");
  }
  {
    const Task task = make_task("ti_gaussian_rw", {{"dim", 2}});
    const double factor = 0.9 + 1.0 / 4;  // t = 3
    expect_moments(sample_moments(task, {0.5, -1}, {3, -4}, 3),
                   {Eigen::Vector2d(factor * 3 + 0.5, factor * -4 - 1), MatrixXd::Identity(2, 2)}, "ti_gaussian_rw");
  }
  {
    Eigen::Matrix2d a;
    a << 0, -1.44, 0.64, 0;
    expect_moments(sample_moments(make_task("periodic_sde"), {1.2, 0.8}, {0.4, -0.9}, 0),
                   linear_moments(a, 0.1 * Eigen::Matrix2d::Identity(), 0.005, 20, Eigen::Vector2d(0.4, -0.9)),
                   "periodic_sde");
  }
  for (const int n : {2, 3}) {
    const double scale = n == 2 ? 0.5 : 1;
    std::vector<double> theta;
    for (int i = 0; i < 2 * n * n; ++i) theta.push_back(std::sin(1.0 + i));
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const RowMajor m1 = Eigen::Map<const RowMajor>(theta.data(), n, n),
                   m2 = Eigen::Map<const RowMajor>(theta.data() + theta.size() / 2, n, n);
    const MatrixXd identity = MatrixXd::Identity(n, n);
    const VectorXd x = VectorXd::LinSpaced(n, -1, 2);
    expect_moments(
        sample_moments(make_task("linear_sde", {{"dim", n}, {"drift_scale", scale}}), theta, {x.begin(), x.end()}, 0),
        linear_moments(scale * m1 - 2 * identity, 0.5 * m2 + 0.5 * identity, 0.001, 20, x), "linear_sde");
  }
}

TEST(MixtureRw, HasTwoEquallyLikelyJumps) {
  // Mean x, variance σ² + θ², covariance θ_i θ_j (one coin for all coordinates), fourth moment below the Gaussian's.
  const Task task = make_task("mixture_rw", {{"dim", 2}});
  const Moments found = sample_moments(task, {2, -1}, {1, 5}, 0);
  EXPECT_NEAR(found.mean(0), 1, 4.5 * std::sqrt(4.25 / draws));
  EXPECT_NEAR(found.mean(1), 5, 4.5 * std::sqrt(1.25 / draws));
  // Var of (uθ+σε)²: 4θ²σ² + 2σ⁴, the coin's square being 1; of the product likewise θ₁²σ² + θ₂²σ² + σ⁴.
  EXPECT_NEAR(found.covariance(0, 0), 4.25, 4.5 * std::sqrt((4 * 4 * 0.25 + 2 * 0.0625) / draws));
  EXPECT_NEAR(found.covariance(1, 1), 1.25, 4.5 * std::sqrt((4 * 1 * 0.25 + 2 * 0.0625) / draws));
  EXPECT_NEAR(found.covariance(0, 1), -2, 4.5 * std::sqrt((4 * 0.25 + 1 * 0.25 + 0.0625) / draws));
}

}  // namespace catena::tasks::moments_test

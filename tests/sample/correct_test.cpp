// The parts of correction by simulation against what is known of them, and the whole against an exact posterior.
#include "catena/sample/correct/correct.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "catena/compose/scores/record_scores.h"
#include "catena/sample/correct/basis.h"
#include "catena/sample/correct/cloud.h"
#include "catena/sample/correct/law.h"
#include "catena/sample/correct/regression.h"
#include "catena/sample/correct/variance.h"
#include "catena/simulate/records/given_records.h"
#include "train/exact_density.h"

namespace catena::sample::correct_test {
namespace {

Matrix normals(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Matrix made(rows, cols);
  Stream stream = Streams(seed).stream("normals");
  stream.fill_normal(made.values());
  return made;
}

Piece standard(std::size_t d) {
  const auto n = static_cast<Eigen::Index>(d);
  return {Eigen::VectorXd::Zero(n), Eigen::MatrixXd::Identity(n, n)};
}

TEST(Basis, HasAllPolynomialsOrthonormalOverTheNormal) {
  const Basis basis({standard(2)}, 3);
  ASSERT_EQ(basis.size(), polynomial_count(2, 3));
  ASSERT_EQ(basis.size(), 10U);
  constexpr std::size_t n = 200'000;
  const Matrix z = normals(n, 2, 1);
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(10, 10);
  Eigen::VectorXd phi(10);
  for (std::size_t i = 0; i < n; ++i) {
    basis.evaluate(z.row(i), {phi.data(), 10});
    gram += phi * phi.transpose() / n;
  }
  // The products of cubic polynomials have a variance of at most 93: 5 of the means' standard deviations.
  EXPECT_LT((gram - Eigen::MatrixXd::Identity(10, 10)).cwiseAbs().maxCoeff(), 5 * std::sqrt(93.0 / n));
}

/// y = 1 + 2 u_1 + noise with ten columns that say nothing: these go, and the rest is least squares.
TEST(Regression, KeepsWhatTheDataAskForAndKnowsItsNoise) {
  constexpr std::size_t n = 4000, columns = 12;
  const Matrix phi = normals(n, columns, 2), noise = normals(n, 2, 3);
  RegressionSums sums(columns, 2);
  for (std::size_t i = 0; i < n; ++i) {
    Eigen::VectorXd row(columns), y(2);
    for (std::size_t k = 0; k < columns; ++k) row[static_cast<Eigen::Index>(k)] = k == 0 ? 1 : phi(i, k);
    for (std::size_t j = 0; j < 2; ++j) y[static_cast<Eigen::Index>(j)] = 1 + 2 * phi(i, 1) + noise(i, j);
    sums.squares.selfadjointView<Eigen::Lower>().rankUpdate(row);
    sums.products += row * y.transpose();
    sums.response_squares += y.cwiseAbs2();
    sums.rows += 1;
  }
  std::vector<bool> kept(columns, false);
  kept[0] = true;
  const Regression fit = fit_regression(sums, kept, 0.4);
  const double error = 1 / std::sqrt(static_cast<double>(n));
  for (Eigen::Index j = 0; j < 2; ++j) {
    EXPECT_NEAR(fit.coefficients(0, j), 1, 4.5 * error);
    EXPECT_NEAR(fit.coefficients(1, j), 2, 4.5 * error);
  }
  int gone = 0;
  for (Eigen::Index k = 2; k < static_cast<Eigen::Index>(columns); ++k) gone += fit.coefficients(k, 0) == 0 ? 1 : 0;
  EXPECT_GE(gone, 9);
  EXPECT_NEAR(fit.residual_variance, 1, 4.5 * std::sqrt(2.0 / (2 * n)));
  EXPECT_NEAR(std::sqrt(fit.covariance(1, 1)), error, 0.1 * error);
}

/// Var y_1 = e^z, y_2 = z y_1 + N(0, 1): covariance (e^z, z e^z; z e^z, z² e^z + 1).
TEST(VarianceModel, FindsACovarianceThatDependsOnZ) {
  constexpr std::size_t n = 40'000;
  const Matrix z = normals(n, 1, 4), noise = normals(n, 2, 5);
  Eigen::MatrixXd y(n, 2);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    y(row, 0) = std::exp(0.5 * z(i, 0)) * noise(i, 0);
    y(row, 1) = z(i, 0) * y(row, 0) + noise(i, 1);
  }
  const VarianceModel model(standard(1), z, y);
  EXPECT_EQ(model.degree(), 1);
  for (const double at : {-1.0, 0.0, 1.5}) {
    const std::vector<double> point{at};
    const Eigen::MatrixXd found = model.at(point);
    Eigen::Matrix2d exact;
    exact << std::exp(at), at * std::exp(at), at * std::exp(at), at * at * std::exp(at) + 1;
    EXPECT_LT((found - exact).cwiseAbs().maxCoeff(), 0.06 * exact.norm()) << at;
    // The density goes with the covariance.
    const Eigen::Vector2d r(0.3, -0.7);
    const double log_density = -0.5 * (r.dot(found.inverse() * r) / 2 + std::log((2 * found).determinant()));
    EXPECT_NEAR(model.log_density(point, r, 2), log_density, 1e-9);
  }
}

/// The exact network of gaussian_rw has the score x' − 0.9 x − z.
// Records whose means differ by ten times the noise: the law of the sum over just these records knows its slope as well
// as if they did not.
TEST(NormalLaw, TakesOutHowRecordsDiffer) {
  constexpr std::size_t records = 40, n = 2000;
  Stream stream = Streams(7).stream("records");
  std::vector<double> own(records);
  double mean = 0;
  for (double& each : own) mean += (each = 10 * stream.normal()) / records;
  SimulatedPairs pairs{Matrix(n, 1), Eigen::MatrixXd(n, 1), Eigen::MatrixXd(n, 1), {}};
  for (std::size_t i = 0; i < n; ++i) {
    const double z = pairs.z(i, 0) = stream.normal();
    pairs.record.push_back(i % records);
    const auto row = static_cast<Eigen::Index>(i);
    for (Eigen::MatrixXd* y : {&pairs.first, &pairs.second}) {
      (*y)(row, 0) = own[i % records] + 0.5 * z + stream.normal();
    }
  }
  const Modes modes = ordered_modes(pairs.z);
  const std::vector<LawClaim> claims(modes.all.size(), {Eigen::VectorXd::Zero(1), Eigen::MatrixXd::Zero(1, 1)});
  const NormalLaw law(pairs, modes, claims, records, 1, Parallel(1));
  const double noise = std::sqrt(0.5 / n), at[] = {0.0}, one[] = {1.0};
  EXPECT_NEAR(law.mean(at)[0], mean, 4 * noise);
  EXPECT_NEAR(law.mean(one)[0] - law.mean(at)[0], 0.5, 4 * noise);
  EXPECT_LT(std::sqrt(law.noise(one)), 2.5 * noise);
}

TEST(RecordScores, OfAnExactDensityAreTheExactOnes) {
  const model::TrainedModel model = train::testing::exact_gaussian_rw(2);
  const Matrix series = train::testing::gaussian_rw_series(2, 40, 6);
  const compose::ObservedSeries observed = compose::observed_series("test", model, series, {});
  const auto scores = compose::record_scores("test", model);
  const std::vector<double> z{0.3, -0.8};
  Matrix score(40, 2);
  std::vector<double> value(40);
  scores->evaluate(observed.c, z, score, value);
  double constant = 0;
  for (std::size_t t = 0; t < 40; ++t) {
    double square = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const double exact = series(t + 1, i) - 0.9 * series(t, i) - z[i];
      EXPECT_NEAR(score(t, i), exact, 2e-5);
      square += exact * exact;
      EXPECT_EQ(observed.x(t, i), series(t, i));
    }
    // log q up to a constant is −½ of it.
    if (t == 0) constant = value[t] + 0.5 * square;
    EXPECT_NEAR(value[t] + 0.5 * square, constant, 1e-4 * (1 + square));
  }
}

TEST(GivenRecords, StartWhereTheyAreToldAndDoNotDependOnThreads) {
  const tasks::Task task = tasks::gaussian_rw::make({.dim = 1});
  constexpr std::size_t n = 5000;
  const simulate::RecordShape shape{.states = 1};
  const auto made = [&](int threads) {
    simulate::Columns<Matrix> rows = simulate::make_columns(shape, 1, n);
    for (std::size_t r = 0; r < n; ++r) rows.theta(r, 0) = 2, rows.x(r, 0) = static_cast<double>(r % 7);
    simulate::simulate_given(task, shape, simulate::view(rows), Streams(3), 0, Parallel(threads));
    return rows.x_next;
  };
  const Matrix one = made(1);
  EXPECT_EQ(one, made(2));
  EXPECT_EQ(one, made(5));
  double sum = 0;
  for (std::size_t r = 0; r < n; ++r) sum += one(r, 0) - 0.9 * static_cast<double>(r % 7) - 2;
  EXPECT_NEAR(sum / n, 0, 4.5 / std::sqrt(static_cast<double>(n)));
}

/// x' = 0.9 x + θ + ε has the posterior N(T r̄/(1 + T), 1/(1 + T)). The network is the exact one with its mean off by
/// 0.1: ten standard deviations at T = 10,000, where the learned posterior is climbed to, and three at T = 1,000.
class Biased : public ::testing::TestWithParam<std::size_t> {};
TEST_P(Biased, NetworksAreCorrected) {
  const std::size_t T = GetParam();
  model::TrainedModel model = train::testing::exact_gaussian_rw(1);
  auto& weights = model.networks.at("gaussian").weights;
  const auto bias = std::ranges::find(weights, "gaussian.out.bias", [](const auto& each) { return each.name; });
  std::get<std::vector<float>>(bias->values)[0] -= 0.1F;
  const tasks::Task task = tasks::gaussian_rw::make({.dim = 1});
  const Matrix series = train::testing::gaussian_rw_series(1, T, 7);
  CorrectionRequest request{.posterior = {.model = model, .series = {{series}}, .draws = 1000}, .simulator = task};
  request.settings.budget = static_cast<int>(100 * T);
  const Correction found = correct_posterior(request, Streams(1), Parallel(2));
  ASSERT_EQ(found.not_corrected, "");
  EXPECT_EQ(found.corrected.outcome, Outcome::ok);
  EXPECT_TRUE(found.certificate.shifted);
  EXPECT_LE(found.info["spent"].get<std::uint64_t>(), 100 * T);
  double sum = 0, mean = 0, square = 0;
  for (std::size_t t = 0; t < T; ++t) sum += series(t + 1, 0) - 0.9 * series(t, 0);
  for (const double theta : found.corrected.theta.values()) mean += theta / 1000;
  for (const double theta : found.corrected.theta.values()) square += (theta - mean) * (theta - mean) / 1000;
  const double count = static_cast<double>(T), deviation = 1 / std::sqrt(1 + count);
  // √(pT/M) = 0.11 of a deviation by the regression and 0.03 by the draws; 4.5 of them.
  EXPECT_NEAR((mean - sum / (1 + count)) / deviation, 0, 4.5 * 0.115);
  EXPECT_NEAR(std::sqrt(square) / deviation, 1, 0.15);
  // Its log density differs between two points as the exact one does.
  Matrix theta(2, 1);
  theta(0, 0) = mean;
  theta(1, 0) = mean + 2 * deviation;
  const std::vector<double> density = found.posterior->log_prob(theta, Parallel(1));
  EXPECT_NEAR(density[0] - density[1], 2, 1.2);
  const Correction again = correct_posterior(request, Streams(1), Parallel(5));
  EXPECT_EQ(again.corrected.theta, found.corrected.theta);
}
INSTANTIATE_TEST_SUITE_P(OfLongSeries, Biased, ::testing::Values(1000, 10'000));

TEST(Correct, RefusesAnotherSimulator) {
  const model::TrainedModel model = train::testing::exact_gaussian_rw(2);
  const tasks::Task task = tasks::gaussian_rw::make({.dim = 1});
  const Matrix series = train::testing::gaussian_rw_series(2, 50, 7);
  const CorrectionRequest request{.posterior = {.model = model, .series = {{series}}}, .simulator = task};
  EXPECT_THROW(correct_posterior(request, Streams(1), Parallel(1)), InputError);
}

TEST(Correct, LeavesShortSeriesAloneAndSaysSo) {
  const model::TrainedModel model = train::testing::exact_gaussian_rw(1);
  const tasks::Task task = tasks::gaussian_rw::make({.dim = 1});
  const Matrix series = train::testing::gaussian_rw_series(1, 10, 7);
  const CorrectionRequest request{.posterior = {.model = model, .series = {{series}}, .draws = 100}, .simulator = task};
  const Correction found = correct_posterior(request, Streams(1), Parallel(1));
  EXPECT_NE(found.not_corrected, "");
  EXPECT_EQ(found.corrected.theta, found.learned.theta);
}

}  // namespace
}  // namespace catena::sample::correct_test

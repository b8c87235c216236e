// Densities and modes of posteriors in closed form: gaussian_rw with its exact density or score, under several priors.
#include "catena/sample/posterior_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "catena/compose/rule.h"
#include "catena/core/errors.h"
#include "compose/analytic_scores.h"
#include "train/exact_density.h"

namespace catena::sample::posterior_map_test {
namespace {

double log_normal_density(double residual) { return -0.5 * residual * residual - 0.5 * std::log(2 * std::numbers::pi); }

/// Σ_t log N(x^(t+1); 0.9 x^t + z, I)
double exact_log_likelihood(const Matrix& series, std::span<const double> z) {
  double sum = 0;
  for (std::size_t t = 0; t + 1 < series.rows(); ++t) {
    for (std::size_t i = 0; i < z.size(); ++i) sum += log_normal_density(series(t + 1, i) - 0.9 * series(t, i) - z[i]);
  }
  return sum;
}

std::vector<double> mean_residual(const Matrix& series) {
  std::vector<double> mean(series.cols(), 0);
  const auto T = static_cast<double>(series.rows() - 1);
  for (std::size_t t = 0; t + 1 < series.rows(); ++t) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += (series(t + 1, i) - 0.9 * series(t, i)) / T;
  }
  return mean;
}

/// The exact density in z with another map from z to θ: what it says of x given θ is then exact, too.
model::TrainedModel exact_model(const prior::FactorPtr& factor) {
  model::TrainedModel model = train::testing::exact_gaussian_rw(2);
  model.prior = {};
  model.prior.add({"theta_1"}, factor);
  model.prior.add({"theta_2"}, factor);
  return model;
}

/// Single precision within networks: about 1e-6 of each of the 2 T terms, which are of order 1.
TEST(PosteriorLogProb, IsTheLogPriorPlusTheExactLogLikelihood) {
  constexpr std::size_t T = 150;
  const Matrix series = train::testing::gaussian_rw_series(2, T, 3);
  for (const auto& factor : {prior::normal(), prior::normal(0.5, 2), prior::uniform(-3, 5), prior::log_normal(0.1, 0.6),
                             prior::gamma(3, 0.4)}) {
    const model::TrainedModel model = exact_model(factor);
    Matrix theta(3, 2);
    const std::vector<std::vector<double>> z{{0.2, -0.4}, {1.1, 0.3}, {-0.8, -1.5}};
    for (std::size_t r = 0; r < 3; ++r) model.prior.to_theta(z[r], theta.row(r));
    const auto found = posterior_log_prob({.model = model, .series = {{series}}}, theta, Parallel(1));
    for (std::size_t r = 0; r < 3; ++r) {
      const double exact = model.prior.log_density(theta.row(r)) + exact_log_likelihood(series, z[r]);
      EXPECT_NEAR(found[r], exact, 2 * T * 2e-6) << factor->to_json().dump();
    }
  }
}

TEST(PosteriorLogProb, IsMinusInfinityOutsideThePrior) {
  const Matrix series = train::testing::gaussian_rw_series(2, 5, 3);
  const model::TrainedModel model = exact_model(prior::uniform(0, 1));
  Matrix theta(3, 2);
  theta(0, 0) = 0.5, theta(0, 1) = 1.5;
  theta(1, 0) = 0.5, theta(1, 1) = 0.5;
  theta(2, 0) = -0.1, theta(2, 1) = 0.5;
  const auto found = posterior_log_prob({.model = model, .series = {{series}}}, theta, Parallel(1));
  EXPECT_EQ(found[0], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isfinite(found[1]));
  EXPECT_EQ(found[2], -std::numeric_limits<double>::infinity());
}

TEST(PosteriorLogProb, RefusesMethodsWithoutADensity) {
  model::TrainedModel model = exact_model(prior::normal());
  model.method = "fnse";
  try {
    posterior_log_prob({.model = model, .series = {}}, Matrix(1, 2), Parallel(1));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "log_prob: the method is fnse, but must be one that learns a density (a score has none)");
  }
}

/// With ȳ the mean of x^(t+1) − 0.9 x^t, the density of θ in z is −T/2 (z − ȳ)² and: of a normal prior −z²/2; of a
/// log-normal one −z²/2 − z, since log|dθ/dz| = z + const for unit log_sd; of a uniform one nothing. The tolerance is a
/// hundredth of the posterior's deviation, that of maximise().
TEST(PosteriorMap, IsTheModeInThetaSpace) {
  for (const std::size_t T : {1, 10, 200}) {
    const Matrix series = train::testing::gaussian_rw_series(2, T, 20 + T);
    const std::vector<double> mean = mean_residual(series);
    struct Case {
      prior::FactorPtr factor;
      double prior_precision, pull;
    };
    for (const Case& c :
         {Case{prior::normal(1, 2), 1, 0}, Case{prior::log_normal(0.3, 1), 1, -1}, Case{prior::uniform(-2, 7), 0, 0}}) {
      const model::TrainedModel model = exact_model(c.factor);
      const PosteriorRequest request{.model = model, .series = {{series}}};
      const MapEstimate found = posterior_map(request, Streams(1), Parallel(1));
      EXPECT_EQ(found.outcome, Outcome::ok);
      const double precision = static_cast<double>(T) + c.prior_precision;
      std::vector<double> z(2), theta(2);
      for (std::size_t i = 0; i < 2; ++i) {
        z[i] = (static_cast<double>(T) * mean[i] + c.pull) / precision;
        EXPECT_NEAR(found.z[i], z[i], 0.011 / std::sqrt(precision)) << T << " " << c.factor->to_json().dump();
      }
      model.prior.to_theta(found.z, theta);
      EXPECT_EQ(found.theta, theta);
      // Its log_prob is the one that log_prob gives, and not less than at the exact mode but for the tolerance.
      Matrix both(2, 2);
      std::ranges::copy(found.theta, both.row(0).begin());
      model.prior.to_theta(z, both.row(1));
      const auto log_prob = posterior_log_prob(request, both, Parallel(1));
      EXPECT_NEAR(found.log_prob, log_prob[0], 1e-5 * static_cast<double>(T + 1));
      EXPECT_GT(log_prob[0], log_prob[1] - 2e-4 - 1e-5 * static_cast<double>(T));
    }
  }
}

TEST(PosteriorMap, NamesParametersAtTheEdgeOfThePrior) {
  // The series drifts by 30 a step in its first coordinate: more than any z allows.
  Matrix series(11, 2);
  for (std::size_t t = 0; t < 10; ++t) {
    series(t + 1, 0) = 0.9 * series(t, 0) + 30;
    series(t + 1, 1) = 0.9 * series(t, 1) + 0.5;
  }
  const model::TrainedModel model = exact_model(prior::uniform(-1, 1));
  const MapEstimate found = posterior_map({.model = model, .series = {{series}}}, Streams(1), Parallel(1));
  EXPECT_EQ(found.info["at_edge"], nlohmann::json({"theta_1"}));
  EXPECT_NEAR(found.theta[0], 1, 1e-3);
  EXPECT_NEAR(found.z[1], 0.5, 0.011 / std::sqrt(10));
}

TEST(PosteriorMap, IsTheSameForAnyNumberOfThreads) {
  const Matrix series = train::testing::gaussian_rw_series(2, 30, 4);
  const model::TrainedModel model = exact_model(prior::uniform(-3, 3));
  const PosteriorRequest request{.model = model, .series = {{series}}};
  EXPECT_EQ(posterior_map(request, Streams(1), Parallel(1)).z, posterior_map(request, Streams(1), Parallel(3)).z);
}

/// A root of the exact composed score, by its last level of noise 1 + 0.05² wider than the posterior but at its mean.
TEST(MapOfScore, IsTheModeOfGaussianRw) {
  const diffusion::Schedule schedule;
  for (const std::size_t T : {1, 10, 100}) {
    const compose::GaussianRwScores source(T, 2, schedule, 100 + T);
    const auto score =
        compose::compose("gauss", {.source = &source, .schedule = schedule, .precisions = source.precisions()});
    const SampleSettings settings{.sampler = "ralston3", .steps = 24};
    const double deviation = std::sqrt(source.posterior_variance());
    // Under N(0, 1) the density of θ is that of z; with θ = e^z it has its mode at μ − v.
    for (const bool log_normal : {false, true}) {
      prior::Prior prior;
      for (const char* name : {"a", "b"}) prior.add({name}, log_normal ? prior::log_normal(0, 1) : prior::normal());
      const MapEstimate found =
          map_of_score(*score, settings, prior::TruePrior(prior), Streams(1), Parallel(1), silent_progress());
      EXPECT_EQ(found.outcome, Outcome::ok);
      EXPECT_TRUE(std::isnan(found.log_prob));
      for (std::size_t i = 0; i < 2; ++i) {
        const double shift = log_normal ? source.posterior_variance() : 0;
        const double mode = source.posterior_mean()(static_cast<Eigen::Index>(i)) - shift;
        EXPECT_NEAR(found.z[i], mode, 0.011 * deviation + 0.003 * shift) << T;
      }
    }
  }
}

/// A model that was trained around a posterior answers under the true prior: the networks' z is w, θ = base(μ + L w).
prior::Around narrow(const prior::FactorPtr& factor) {
  prior::Prior base;
  for (const char* name : {"theta_1", "theta_2"}) base.add({name}, factor);
  return {base, prior::NormalMixture::one(Eigen::Vector2d(0.5, -1), Eigen::Matrix2d{{0.7, 0}, {0, 1.3}})};
}

TEST(Around, HasTheLogProbOfTheTruePrior) {
  constexpr std::size_t T = 150;
  const Matrix series = train::testing::gaussian_rw_series(2, T, 3);
  const prior::Around around = narrow(prior::gamma(3, 0.4));
  model::TrainedModel model = train::testing::exact_gaussian_rw(2);
  model.prior = around.prior();
  const std::vector<std::vector<double>> w{{0.2, -0.4}, {1.1, 0.3}, {-0.8, -1.5}};
  Matrix theta(3, 2);
  for (std::size_t r = 0; r < 3; ++r) model.prior.to_theta(w[r], theta.row(r));
  const auto found = posterior_log_prob({.model = model, .series = {{series}}}, theta, Parallel(1));
  for (std::size_t r = 0; r < 3; ++r) {
    const double exact = around.base.log_density(theta.row(r)) + exact_log_likelihood(series, w[r]);
    EXPECT_NEAR(found[r], exact, 2 * T * 2e-6);
  }
}

/// −z²/2 − T/2 (w − ȳ)² with w = (z − μ)/s has its maximum at z = (T ȳ/s + T μ/s²)/(1 + T/s²).
TEST(Around, HasTheModeUnderTheTruePrior) {
  for (const std::size_t T : {1, 10, 200}) {
    const Matrix series = train::testing::gaussian_rw_series(2, T, 20 + T);
    const std::vector<double> mean = mean_residual(series);
    const prior::Around around = narrow(prior::normal(1, 2));
    model::TrainedModel model = train::testing::exact_gaussian_rw(2);
    model.prior = around.prior();
    const MapEstimate found = posterior_map({.model = model, .series = {{series}}}, Streams(1), Parallel(1));
    EXPECT_EQ(found.outcome, Outcome::ok);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      const double s = around.normals.components[0].lower(k, k), t = static_cast<double>(T),
                   precision = 1 + t / (s * s);
      const double mode = (t * mean[i] / s + t * around.normals.components[0].mean[k] / (s * s)) / precision;
      EXPECT_NEAR(found.z[i], mode, 0.011 / std::sqrt(precision)) << T;
      EXPECT_NEAR(found.theta[i], 1 + 2 * found.z[i], 1e-12);
    }
  }
}

/// N(w; m, v) times the weight exp(w²/2 − (μ + s w)²/2) has its mode at w = (m/v − s μ)/(1/v + s² − 1). The score's
/// last level of noise makes v wider by 0.05², which moves it by less than a hundredth of a deviation.
TEST(Around, HasTheModeUnderTheTruePriorByAScore) {
  const diffusion::Schedule schedule;
  for (const std::size_t T : {1, 10, 100}) {
    const compose::GaussianRwScores source(T, 2, schedule, 100 + T);
    const auto score =
        compose::compose("gauss", {.source = &source, .schedule = schedule, .precisions = source.precisions()});
    const prior::Around around = narrow(prior::normal());
    const MapEstimate found =
        map_of_score(*score, {.sampler = "ralston3", .steps = 24}, prior::TruePrior(around.prior()), Streams(1),
                     Parallel(1), silent_progress());
    EXPECT_EQ(found.outcome, Outcome::ok);
    const double v = source.posterior_variance();
    for (std::size_t i = 0; i < 2; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      const double s = around.normals.components[0].lower(k, k);
      const double mode =
          (source.posterior_mean()(k) / v - s * around.normals.components[0].mean[k]) / (1 / v + s * s - 1);
      EXPECT_NEAR(found.z[i], mode, 0.021 * std::sqrt(v)) << T;
    }
  }
}

/// 0.4 N(−1, 0.15²) is higher than 0.6 N(0.8, 0.5²): 2.7 against 1.2, though fewer draws fall there.
TEST(MapOfScore, TakesTheHigherModeNotTheHeavier) {
  const diffusion::Schedule schedule;
  const compose::MixtureScores source({{0.4, -1, 0.15}, {0.6, 0.8, 0.5}}, schedule);
  compose::LocalPrecisions precision(1, 1);
  precision(0, 0) = 1;
  const auto score = compose::compose("gauss", {.source = &source, .schedule = schedule, .precisions = precision});
  prior::Prior prior;
  prior.add({"a"}, prior::normal());
  const MapEstimate found =
      map_of_score(*score, {}, prior::TruePrior(prior), Streams(1), Parallel(1), silent_progress());
  EXPECT_EQ(found.outcome, Outcome::ok);
  EXPECT_NEAR(found.z[0], -1, 0.05);
}

}  // namespace
}  // namespace catena::sample::posterior_map_test

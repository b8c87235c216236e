// Rules and samplers together on posteriors in closed form; only Monte Carlo and step errors are left.
#include "catena/sample/diffusion/read_precisions.h"
#include "catena/sample/diffusion/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "catena/compose/rule.h"
#include "compose/analytic_scores.h"

namespace catena::sample::diffusion_sample_test {
namespace {

using compose::GaussianRwScores;
using compose::MixtureScores;
using diffusion::Schedule;

/// Mean and covariance of draws against N(μ, v I), d = 2. The mean of n draws has deviation √(v/n), a variance
/// √(2/n) v, a covariance √(1/n) v; each is tested at 4.5 of these (false alarm 7e-6 each) plus the step error `bias`
/// in units of the posterior: of the deviation for means, of v for (co)variances.
void expect_moments(const DiffusionDraws& draws, const Eigen::VectorXd& mean, double v, double bias,
                    const std::string& what) {
  const auto z = compose::map(draws.z.view());
  const auto n = static_cast<double>(z.rows());
  const Eigen::VectorXd centre = z.colwise().mean();
  const Eigen::MatrixXd centred = z.rowwise() - centre.transpose();
  const Eigen::MatrixXd covariance = centred.transpose() * centred / (n - 1);
  for (Eigen::Index i = 0; i < z.cols(); ++i) {
    EXPECT_NEAR(centre(i), mean(i), std::sqrt(v) * (4.5 / std::sqrt(n) + bias)) << what << ", mean " << i;
    for (Eigen::Index j = 0; j <= i; ++j) {
      EXPECT_NEAR(covariance(i, j), i == j ? v : 0, v * (4.5 * std::sqrt((i == j ? 2 : 1) / n) + bias))
          << what << ", covariance " << i << " " << j;
    }
  }
}

TEST(EveryRule, DrawsFromTheExactPosteriorOfGaussianRw) {
  const Schedule schedule;
  const Parallel parallel(2);
  for (const compose::Rule& rule : compose::rules()) {
    for (const std::size_t T : {1, 10, 100, 1000, 10000}) {
      // fnpe's path is not a diffusion's for T > 1, so that no sampler of a diffusion can follow it exactly.
      if (rule.name == "fnpe" && T > 1) continue;
      const GaussianRwScores source(T, 2, schedule, 100 + T);
      const auto score =
          compose::compose(rule.name, {.source = &source, .schedule = schedule, .precisions = source.precisions()});
      // 24 third-order steps are given an allowance of 0.5 % for their own error.
      const SampleSettings settings{.sampler = "ralston3", .steps = 24};
      const std::size_t n = T >= 10000 ? 100 : T >= 1000 ? 400 : 2000;
      const DiffusionDraws draws = diffusion_sample(*score, n, settings, Streams(1), parallel);
      EXPECT_EQ(draws.info.outcome, Outcome::ok);
      expect_moments(draws, source.posterior_mean(), source.posterior_variance(), 0.005,
                     fmt::format("{}, T = {}", rule.name, T));
    }
  }
}

TEST(EverySampler, DrawsFromTheExactPosteriorOfGaussianRwWithEverySchedule) {
  for (const diffusion::NamedSchedule& named : diffusion::schedules()) {
    const GaussianRwScores source(100, 2, named.schedule, 5);
    const auto score =
        compose::compose("gauss", {.source = &source, .schedule = named.schedule, .precisions = source.precisions()});
    for (const Sampler& sampler : samplers()) {
      SampleSettings settings{.sampler = std::string(sampler.name), .steps = sampler.order == 1 ? 200 : 50};
      const DiffusionDraws draws = diffusion_sample(*score, 1500, settings, Streams(2), Parallel(2));
      EXPECT_EQ(draws.info.outcome, Outcome::ok);
      expect_moments(draws, source.posterior_mean(), source.posterior_variance(), 0.05,
                     fmt::format("{}, {}", sampler.name, named.name));
    }
  }
}

/// A skewed target with two modes, one much narrower than the whole, and how far draws are from it.
struct BimodalTarget {
  Schedule schedule;
  MixtureScores source{{{0.3, -1, 0.2}, {0.7, 0.8, 0.5}}, schedule};
  std::unique_ptr<compose::SeriesScore> score;

  BimodalTarget() {
    compose::LocalPrecisions precision(1, 1);
    precision(0, 0) = 1;
    score = compose::compose("gauss", {.source = &source, .schedule = schedule, .precisions = precision});
  }

  /// √n D of Kolmogorov and Smirnov.
  double distance(DiffusionDraws draws) const {
    std::ranges::sort(draws.z.values());
    const auto n = static_cast<double>(draws.z.rows());
    double distance = 0;
    for (std::size_t i = 0; i < draws.z.rows(); ++i) {
      const auto rank = static_cast<double>(i);
      const double u = source.cdf(draws.z(i, 0), 0);
      distance = std::max({distance, std::abs(u - rank / n), std::abs(u - (rank + 1) / n)});
    }
    return distance * std::sqrt(n);
  }
};

TEST(EverySampler, DrawsFromASkewedBimodalTarget) {
  const BimodalTarget target;
  for (const Sampler& sampler : samplers()) {
    SampleSettings settings{.sampler = std::string(sampler.name), .steps = 200, .end_width = 0.01};
    const DiffusionDraws draws = diffusion_sample(*target.score, 4000, settings, Streams(3), Parallel(2));
    // √n D > 2.3 has probability 2 exp(−2 · 2.3²) = 5e-5; 7 samplers: 3.5e-4 for the whole test.
    EXPECT_LT(target.distance(draws), 2.3) << sampler.name;
  }
}

TEST(AdaptiveSteps, DrawFromASkewedBimodalTargetWithFewerEvaluationsForALooserTolerance) {
  const BimodalTarget target;
  for (const Sampler& sampler : samplers()) {
    if (!sampler.adaptive()) continue;
    std::size_t evaluations = 0;
    for (const double tolerance : {0.002, 0.01}) {
      SampleSettings settings{.sampler = std::string(sampler.name), .steps = 2000, .end_width = 0.01};
      settings.tolerance = tolerance;
      const DiffusionDraws draws = diffusion_sample(*target.score, 4000, settings, Streams(3), Parallel(2));
      EXPECT_EQ(draws.info.outcome, Outcome::ok);
      EXPECT_LT(target.distance(draws), 2.3) << sampler.name << ", " << tolerance;  // 6 tests: false alarm 3e-4
      if (evaluations > 0) {
        EXPECT_LT(draws.info.evaluations, evaluations) << sampler.name;
      }
      evaluations = draws.info.evaluations;
    }
  }
}

TEST(AdaptiveSteps, SayWhenTheyWereNotEnough) {
  const BimodalTarget target;
  SampleSettings settings{.sampler = "stochastic_heun", .steps = 10};
  settings.tolerance = 1e-4;
  EXPECT_EQ(diffusion_sample(*target.score, 10, settings, Streams(1), Parallel(1)).info.outcome, Outcome::step_limit);
  settings.sampler = "euler_maruyama";
  EXPECT_THROW(diffusion_sample(*target.score, 10, settings, Streams(1), Parallel(1)), InputError);
}

TEST(EverySampler, GivesTheSameBitsForAnyNumberOfThreads) {
  const Schedule schedule;
  const GaussianRwScores source(10, 2, schedule, 6);
  const auto score =
      compose::compose("jac", {.source = &source, .schedule = schedule, .precisions = source.precisions()});
  for (const Sampler& sampler : samplers()) {
    const SampleSettings settings{.sampler = std::string(sampler.name), .steps = 10, .block = 16};
    const DiffusionDraws one = diffusion_sample(*score, 100, settings, Streams(4), Parallel(1));
    for (const int threads : {2, 5}) {
      EXPECT_EQ(one.z, diffusion_sample(*score, 100, settings, Streams(4), Parallel(threads)).z) << sampler.name;
    }
    EXPECT_NE(one.z, diffusion_sample(*score, 100, settings, Streams(5), Parallel(1)).z) << sampler.name;
  }
}

TEST(EverySampler, CountsItsEvaluations) {
  const Schedule schedule;
  const GaussianRwScores source(3, 2, schedule, 6);
  const auto score =
      compose::compose("gauss", {.source = &source, .schedule = schedule, .precisions = source.precisions()});
  for (const Sampler& sampler : samplers()) {
    const DiffusionDraws draws =
        diffusion_sample(*score, 10, {.sampler = std::string(sampler.name), .steps = 7}, Streams(1), Parallel(1));
    // One to find the start, the stages and Langevin steps of each of 7 steps, one for Tweedie.
    std::size_t expected = 2 + 7 * static_cast<std::size_t>(sampler.stages);
    const auto path = levels(schedule, 7, schedule.eta(draws.info.a_end));
    const Engine engine(*score, sampler, 10, 100);
    for (std::size_t i = 1; i < path.size(); ++i) expected += static_cast<std::size_t>(engine.corrections_at(path[i]));
    EXPECT_EQ(draws.info.evaluations, expected);
    EXPECT_EQ(engine.corrections_at(path.back()), sampler.corrections);
  }
}

TEST(DiffusionSample, EndsWhereTheNoiseIsNarrowerThanThePosterior) {
  const Schedule schedule;
  for (const std::size_t T : {1, 100, 10000}) {
    const GaussianRwScores source(T, 1, schedule, 7);
    const auto score =
        compose::compose("gauss", {.source = &source, .schedule = schedule, .precisions = source.precisions()});
    const SampleSettings settings{.sampler = "ddim", .steps = 2};
    const DiffusionDraws draws = diffusion_sample(*score, 1, settings, Streams(1), Parallel(1));
    EXPECT_NEAR(schedule.eta(draws.info.a_end), 0.05 * std::sqrt(source.posterior_variance()), 1e-12);
    const SampleSettings bounded{.sampler = "ddim", .steps = 2, .smallest_a = 0.02};
    EXPECT_GE(diffusion_sample(*score, 1, bounded, Streams(1), Parallel(1)).info.a_end, 0.02 - 1e-12);
  }
}

/// A score that drives everything away from 0.
class ExplodingScores final : public compose::LocalScores {
 public:
  std::size_t transitions() const override { return 1; }
  std::size_t dimension() const override { return 1; }
  void scores(ConstMatrixView theta, double, std::size_t, std::size_t, MatrixView out) const override {
    for (std::size_t p = 0; p < theta.rows; ++p) out(p, 0) = 1e200 * theta(p, 0);
  }
};

TEST(DiffusionSample, ReportsParticlesThatLeftTheFiniteRange) {
  const ExplodingScores source;
  const auto score = compose::compose("fnpe", {.source = &source});
  const DiffusionDraws draws = diffusion_sample(*score, 20, {.steps = 10, .largest_z = 1e300}, Streams(1), Parallel(1));
  EXPECT_EQ(draws.info.outcome, Outcome::diverged);
  EXPECT_EQ(draws.info.diverged, 20U);
}

TEST(DiffusionSample, KeepsParticlesWithinWhatThePriorAllowsAndCountsTheCuts) {
  const ExplodingScores source;
  const auto score = compose::compose("fnpe", {.source = &source});
  const DiffusionDraws draws =
      diffusion_sample(*score, 20, {.sampler = "euler_maruyama", .steps = 10, .largest_z = 3}, Streams(1), Parallel(1));
  EXPECT_EQ(draws.info.outcome, Outcome::ok);
  EXPECT_EQ(draws.info.cuts, 20U * 11U);  // every step and the last one, of every particle
  for (const double z : draws.z.values()) EXPECT_NEAR(std::abs(z), 3, 1e-12);
}

TEST(LocalPrecisions, AreThoseOfTheLocalPosteriors) {
  const Schedule schedule;
  const auto source = compose::GaussianScores::random(6, 2, schedule, 8);
  const compose::LocalPrecisions exact = source.precisions();
  const auto full =
      local_precisions(source, schedule, {.draws_per_dimension = 1000, .diagonal = false}, Streams(1), Parallel(2));
  EXPECT_EQ(full.info.outcome, Outcome::ok);
  for (std::size_t t = 0; t < 6; ++t) {
    for (std::size_t k = 0; k < 4; ++k) {
      // The inverse of a covariance from n = 2,000 draws: deviation √((c_ij² + c_ii c_jj)/n) for c_ij; 4.5 of them
      // for 24 numbers have a false alarm of 2e-4. Steps and end add 1 %.
      const double scale = std::sqrt((exact(t, k) * exact(t, k) + exact(t, k / 2 * 3) * exact(t, k % 2 * 3)));
      EXPECT_NEAR(full.precisions(t, k), exact(t, k), scale * (4.5 / std::sqrt(2000) + 0.01)) << t << " " << k;
    }
  }
  const auto diagonal = local_precisions(source, schedule, {.draws_per_dimension = 1000}, Streams(1), Parallel(1));
  EXPECT_EQ(diagonal.precisions.cols(), 2U);
  for (std::size_t t = 0; t < 6; ++t) {
    const double determinant = exact(t, 0) * exact(t, 3) - exact(t, 1) * exact(t, 2);
    EXPECT_NEAR(diagonal.precisions(t, 0) * exact(t, 3) / determinant, 1, 4.5 * std::sqrt(2.0 / 2000) + 0.01);
  }
}

TEST(ReadPrecisions, OfGaussianPosteriorsAreExactWhateverTheirWidths) {
  const Schedule schedule;
  std::vector<Eigen::VectorXd> means;
  std::vector<Eigen::MatrixXd> exact;
  Stream stream = Streams(9).stream("axes");
  for (const double narrow : {1.0, 3.0, 1e2, 1e5}) {  // beside a direction that says nothing and one in between
    const Eigen::MatrixXd some = Eigen::MatrixXd::NullaryExpr(3, 3, [&] { return stream.normal(); });
    const Eigen::MatrixXd axes = some.householderQr().householderQ();
    exact.push_back(axes * Eigen::Vector3d(1, std::sqrt(narrow), narrow).asDiagonal() * axes.transpose());
    means.push_back(Eigen::VectorXd::NullaryExpr(3, [&] { return stream.normal(); }));
  }
  const compose::GaussianScores source(means, exact, schedule);
  const compose::LocalPrecisions found = read_precisions(source, schedule, Parallel(2));
  for (std::size_t t = 0; t < exact.size(); ++t) {
    for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(found(t, k), exact[t].data()[k], 1e-8 * exact[t].trace()) << t;
  }
  const compose::LocalPrecisions alone = read_precisions(source, schedule, Parallel(1));
  EXPECT_TRUE(std::ranges::equal(found.values(), alone.values()));
}

/// A mixture in one dimension, with the derivative of its score by differences.
class MixtureWithJacobians final : public compose::LocalScores {
 public:
  explicit MixtureWithJacobians(compose::MixtureScores mixture) : mixture_(std::move(mixture)) {}
  std::size_t transitions() const override { return 1; }
  std::size_t dimension() const override { return 1; }
  void scores(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out) const override {
    mixture_.scores(theta_a, a, begin, end, out);
  }
  bool has_jacobians() const override { return true; }
  void scores_and_jacobians(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out,
                            MatrixView jacobians) const override {
    constexpr double h = 1e-5;
    Matrix above(1, 1), below(1, 1), at(1, 1);
    scores(theta_a, a, begin, end, out);
    at(0, 0) = theta_a(0, 0) + h;
    scores(at, a, begin, end, above.view());
    at(0, 0) = theta_a(0, 0) - h;
    scores(at, a, begin, end, below.view());
    jacobians(0, 0) = (above(0, 0) - below(0, 0)) / (2 * h);
  }

 private:
  compose::MixtureScores mixture_;
};

TEST(ReadPrecisions, OfTwoModesAreThoseOfBothTogether) {
  const Schedule schedule;
  // Variance 0.2² + 0.8², which the noise of the first levels does not tell from that of one Gaussian.
  const MixtureWithJacobians source(compose::MixtureScores({{0.5, -0.8, 0.2}, {0.5, 0.8, 0.2}}, schedule));
  const double precision = read_precisions(source, schedule, Parallel(1))(0, 0);
  EXPECT_GT(precision, 0.5);
  EXPECT_LT(precision, 2);  // 25 is that of either mode
}

}  // namespace
}  // namespace catena::sample::diffusion_sample_test

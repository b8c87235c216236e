// The rules against posteriors in closed form: for Gaussian local posteriors gauss and jac are exact at every a.
#include "catena/compose/rule.h"

#include <gtest/gtest.h>

#include <limits>

#include "catena/core/errors.h"
#include "compose/analytic_scores.h"

namespace catena::compose::rule_test {
namespace {

using diffusion::Schedule;

Matrix some_particles(std::size_t n, std::size_t d) {
  Matrix theta(n, d);
  Streams(3).stream("particles").fill_normal(theta.values());
  return theta;
}

/// Exact score of the diffused posterior N(μ, Λ⁻¹): −(m² Λ⁻¹ + σ² I)⁻¹ (θ_a − m μ).
RowMajorMatrix exact_score(const GaussianScores& source, const Schedule& s, const Matrix& theta, double a) {
  Eigen::MatrixXd covariance = s.m(a) * s.m(a) * source.posterior_precision().inverse();
  covariance.diagonal().array() += s.sigma_squared(a);
  return -(map(theta.view()).rowwise() - s.m(a) * source.posterior_mean().transpose()) * covariance.inverse();
}

TEST(EveryRule, IsTheLocalScoreForOneTransition) {
  const Schedule schedule;
  const auto source = GaussianScores::random(1, 3, schedule, 1);
  const Matrix theta = some_particles(5, 3);
  for (const Rule& rule : rules()) {
    const auto score = compose(rule.name, {.source = &source, .schedule = schedule, .precisions = source.precisions()});
    for (const double a : {0.001, 0.1, 1.0}) {
      Matrix out(5, 3), expected(5, 3);
      EXPECT_EQ((*score)(theta, a, out), Outcome::ok);
      source.scores(theta, a, 0, 1, expected);
      const double scale = map(expected.view()).cwiseAbs().maxCoeff();
      EXPECT_LT((map(out.view()) - map(expected.view())).cwiseAbs().maxCoeff(), 1e-10 * scale) << rule.name << " " << a;
    }
  }
}

TEST(EveryRule, IsTheExactScoreOfTheSeriesWithoutNoise) {
  // At a → 0 all rules agree with Σ s_t − (T − 1) ∇ log p; a = 1e-7 has σ² = 1e-8, which shifts scores by that share.
  const Schedule schedule;
  const auto source = GaussianScores::random(7, 2, schedule, 2);
  const Matrix theta = some_particles(5, 2);
  const RowMajorMatrix expected = exact_score(source, schedule, theta, 1e-7);
  for (const Rule& rule : rules()) {
    const auto score = compose(rule.name, {.source = &source, .schedule = schedule, .precisions = source.precisions()});
    Matrix out(5, 2);
    EXPECT_EQ((*score)(theta, 1e-7, out), Outcome::ok);
    EXPECT_LT((map(out.view()) - expected).cwiseAbs().maxCoeff(), 2e-6 * expected.cwiseAbs().maxCoeff()) << rule.name;
  }
}

TEST(GaussAndJac, AreExactAtEveryNoiseForGaussianTransitions) {
  for (const diffusion::NamedSchedule& named : diffusion::schedules()) {
    const Schedule& schedule = named.schedule;
    for (const std::size_t T : {1, 10, 200}) {
      const auto source = GaussianScores::random(T, 3, schedule, 4);
      const Matrix theta = some_particles(6, 3);
      for (const char* rule : {"gauss", "jac"}) {
        const auto score = compose(rule, {.source = &source, .schedule = schedule, .precisions = source.precisions()});
        for (const double a : {0.003, 0.05, 0.4, 1.0}) {
          Matrix out(6, 3);
          EXPECT_EQ((*score)(theta, a, out), Outcome::ok);
          const RowMajorMatrix expected = exact_score(source, schedule, theta, a);
          // Rounding: terms of size T r |s| cancel down to |Λ s|; r ≤ 1/σ(0.003)² ≈ 3e3, so about T r ε ≈ 1e-10.
          EXPECT_LT((map(out.view()) - expected).cwiseAbs().maxCoeff(), 1e-8 * expected.cwiseAbs().maxCoeff())
              << rule << " " << named.name << " T = " << T << " a = " << a;
        }
      }
    }
  }
}

TEST(GaussAndJac, KnowTheShapeOfThePosterior) {
  const Schedule schedule;
  const auto source = GaussianScores::random(20, 3, schedule, 5);
  for (const char* rule : {"gauss", "jac"}) {
    RuleInput input{.source = &source, .schedule = schedule};
    if (std::string(rule) == "gauss") input.precisions = source.precisions();  // jac finds it from its Jacobians
    const auto score = compose(rule, std::move(input));
    const PosteriorShape& shape = score->shape();
    const Eigen::MatrixXd lambda = shape.axes * shape.precisions.asDiagonal() * shape.axes.transpose();
    EXPECT_LT((lambda - source.posterior_precision()).norm(), 1e-9 * source.posterior_precision().norm()) << rule;
    EXPECT_EQ(score->adjustment(), 0) << rule;
  }
}

TEST(Gauss, DiagonalPrecisionsAreFullOnesWithZerosBesides) {
  const Schedule schedule;
  const GaussianRwScores source(30, 2, schedule, 6);
  LocalPrecisions full(30, 4);
  for (std::size_t t = 0; t < 30; ++t) full(t, 0) = full(t, 3) = 2;
  const Matrix theta = some_particles(4, 2);
  Matrix a(4, 2), b(4, 2);
  (*compose("gauss", {.source = &source, .schedule = schedule, .precisions = source.precisions()}))(theta, 0.2, a);
  (*compose("gauss", {.source = &source, .schedule = schedule, .precisions = full}))(theta, 0.2, b);
  EXPECT_LT((map(a.view()) - map(b.view())).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Gauss, RepairsAPrecisionThatIsNotPositiveWithoutGrowingWithTheSeries) {
  // Local posteriors wider than the prior (C = ½) in one direction: A = T/2 − (T − 1) < 0 there from T = 3 on.
  const Schedule schedule;
  for (const std::size_t T : {10, 1000}) {
    const GaussianRwScores source(T, 2, schedule, 7);
    LocalPrecisions precisions(T, 2);
    for (std::size_t t = 0; t < T; ++t) precisions(t, 0) = 0.5, precisions(t, 1) = 2;
    const auto score = compose("gauss", {.source = &source, .schedule = schedule, .precisions = precisions});
    EXPECT_NEAR(score->shape().precisions(0), 0.1, 1e-12);
    EXPECT_NEAR(score->shape().precisions(1), static_cast<double>(T) + 1, 1e-9);
    EXPECT_NEAR(score->adjustment(), 0.1 - (1 - 0.5 * static_cast<double>(T)), 1e-9);
    // The repair is the same as giving each transition its share of Λ₋ from the start.
    LocalPrecisions lifted = precisions;
    for (std::size_t t = 0; t < T; ++t) lifted(t, 0) += score->adjustment() / static_cast<double>(T);
    const Matrix theta = some_particles(4, 2);
    Matrix a(4, 2), b(4, 2);
    (*score)(theta, 0.2, a);
    (*compose("gauss", {.source = &source, .schedule = schedule, .precisions = lifted}))(theta, 0.2, b);
    EXPECT_LT((map(a.view()) - map(b.view())).cwiseAbs().maxCoeff(), 1e-9 * map(b.view()).cwiseAbs().maxCoeff());
  }
}

/// Jacobians that no true score has: I + σ² J is negative in one direction, or not finite.
class BrokenJacobians final : public LocalScores {
 public:
  BrokenJacobians(const GaussianRwScores& source, double value) : source_(source), value_(value) {}
  std::size_t transitions() const override { return source_.transitions(); }
  std::size_t dimension() const override { return 2; }
  void scores(ConstMatrixView theta, double a, std::size_t begin, std::size_t end, MatrixView out) const override {
    source_.scores(theta, a, begin, end, out);
  }
  bool has_jacobians() const override { return true; }
  void scores_and_jacobians(ConstMatrixView theta, double a, std::size_t begin, std::size_t end, MatrixView out,
                            MatrixView jacobians) const override {
    source_.scores_and_jacobians(theta, a, begin, end, out, jacobians);
    for (std::size_t row = 0; row < jacobians.rows; ++row) jacobians(row, 0) = value_;
  }

 private:
  const GaussianRwScores& source_;
  double value_;
};

TEST(Jac, GivesDirectionsOfUnknownPrecisionThePriorsAndKeepsTheOthers) {
  const Schedule schedule;
  const GaussianRwScores source(10, 2, schedule, 8);
  const BrokenJacobians broken(source, -1e6);
  const auto score = compose("jac", {.source = &broken, .schedule = schedule});
  EXPECT_NEAR(score->shape().precisions(0), 1, 1e-9);   // 10 · 1 − 9
  EXPECT_NEAR(score->shape().precisions(1), 11, 1e-9);  // 10 · 2 − 9
  const Matrix theta = some_particles(3, 2);
  Matrix out(3, 2), healthy(3, 2);
  EXPECT_EQ((*score)(theta, 0.1, out), Outcome::ok);
  (*compose("jac", {.source = &source, .schedule = schedule}))(theta, 0.1, healthy);
  for (std::size_t p = 0; p < 3; ++p) EXPECT_NEAR(out(p, 1), healthy(p, 1), 1e-9);
  // One direction of each covariance: ten for the shape, and ten at each of three particles.
  EXPECT_EQ(score->unknown().directions, 40U);
  EXPECT_EQ(score->unknown().covariances, 40U);
}

TEST(Jac, ReportsPrecisionsThatCannotBeRepaired) {
  const Schedule schedule;
  const GaussianRwScores source(10, 2, schedule, 9);
  const BrokenJacobians broken(source, std::nan(""));
  const auto score = compose("jac", {.source = &broken, .schedule = schedule});
  Matrix theta = some_particles(3, 2), out(3, 2);
  EXPECT_EQ((*score)(theta, 0.1, out), Outcome::not_positive_definite);
}

/// A source with sums, which must then be asked for nothing else.
class OnlySums final : public LocalScores {
 public:
  explicit OnlySums(const GaussianScores& source) : source_(source) {}
  std::size_t transitions() const override { return source_.transitions(); }
  std::size_t dimension() const override { return source_.dimension(); }
  void scores(ConstMatrixView, double, std::size_t, std::size_t, MatrixView) const override {
    ADD_FAILURE() << "single transitions were asked for";
  }
  std::unique_ptr<SummedScores> summed(const LocalPrecisions& precisions) const override {
    return sums_of(source_, precisions);
  }

 private:
  const GaussianScores& source_;
};

TEST(FnpeAndGauss, TakeTheFastPathOfASourceWithSums) {
  const Schedule schedule;
  const auto slow = GaussianScores::random(9, 2, schedule, 10);
  const OnlySums fast(slow);
  const Matrix theta = some_particles(4, 2);
  for (const char* rule : {"fnpe", "gauss"}) {
    Matrix a(4, 2), b(4, 2);
    (*compose(rule, {.source = &slow, .schedule = schedule, .precisions = slow.precisions()}))(theta, 0.3, a);
    (*compose(rule, {.source = &fast, .schedule = schedule, .precisions = slow.precisions()}))(theta, 0.3, b);
    EXPECT_EQ(a, b) << rule;
  }
}

TEST(Compose, RefusesWhatARuleCannotUse) {
  const Schedule schedule;
  const GaussianRwScores source(10, 2, schedule, 11);
  const MixtureScores without_jacobians({{1, 0, 1}}, schedule);
  EXPECT_THROW(compose("gauss", {.source = &source}), InputError);
  EXPECT_THROW(compose("gauss", {.source = &source, .precisions = Matrix(10, 3)}), InputError);
  EXPECT_THROW(compose("jac", {.source = &without_jacobians}), InputError);
  EXPECT_THROW(compose("nosuch", {.source = &source}), InputError);
  EXPECT_THROW(compose("fnpe", {.source = &source, .settings = {.nugget = 0}}), InputError);
  LocalPrecisions infinite = source.precisions();
  infinite(3, 1) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(compose("gauss", {.source = &source, .precisions = infinite}), InputError);
}

}  // namespace
}  // namespace catena::compose::rule_test

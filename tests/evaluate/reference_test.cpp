#include "catena/evaluate/reference/reference.h"

#include <gtest/gtest.h>

#include <array>

#include "catena/core/errors.h"
#include "evaluate/reference_calibration.h"

namespace catena::evaluate::reference_test {

std::unique_ptr<tasks::SeriesLikelihood> simulated(const twins::Twin& twin, std::size_t transitions,
                                                   std::uint64_t seed) {
  Stream stream = Streams(seed).stream("simulated");
  const twins::State theta = twins::prior_draw(twin, stream);
  return twin.likelihood(twins::series(twin, theta, transitions, stream));
}

/// Of tasks whose θ is z.
prior::Prior standard(const tasks::SeriesLikelihood& likelihood) {
  return prior::Prior::standard(simulate::numbered_names("theta", likelihood.parameters()));
}

TEST(Reference, ChainsMatchTheClosedFormPosteriorOfTheGaussianWalk) {
  const auto likelihood = simulated(twins::gaussian_rw(2), 10, 1);
  const auto exact = likelihood->closed_form_posterior();
  ReferenceSettings settings;
  settings.closed_form = false;
  const Reference chains =
      sample_reference(*likelihood, standard(*likelihood), 1000, settings, Streams(2), Parallel(2), silent_progress());
  ASSERT_EQ(chains.outcome, Outcome::ok);
  EXPECT_EQ(chains.method, "mcmc");
  const double sd = std::sqrt(exact->covariance(0, 0));
  for (std::size_t i = 0; i < 2; ++i) {
    double mean = 0, variance = 0;
    std::array<double, 4> counts{};  // of the exact quartiles
    for (std::size_t k = 0; k < 1000; ++k) mean += chains.draws(k, i) / 1000;
    for (std::size_t k = 0; k < 1000; ++k) {
      variance += (chains.draws(k, i) - mean) * (chains.draws(k, i) - mean) / 999;
      const double z = (chains.draws(k, i) - exact->mean[static_cast<Eigen::Index>(i)]) / sd;
      counts[static_cast<std::size_t>(4 * prior::normal_lower(z))] += 1;
    }
    // 1,000 near-independent draws, 4.5 standard errors: 12 checks, false alarm 8e-5.
    EXPECT_NEAR(mean, exact->mean[static_cast<Eigen::Index>(i)], 4.5 * sd / std::sqrt(1000.0));
    EXPECT_NEAR(variance, sd * sd, 4.5 * sd * sd * std::sqrt(2 / 1000.0));
    for (const double count : counts) EXPECT_NEAR(count, 250, 4.5 * std::sqrt(1000 * 0.25 * 0.75));
  }
}

TEST(Reference, HasTheSameDrawsForAnyNumberOfThreads) {
  for (const twins::Twin& twin : {twins::periodic_sde(), twins::sir()}) {
    const auto likelihood = simulated(twin, 5, 3);
    const auto draws = [&](int threads) {
      return sample_reference(*likelihood, twin.prior(), 100, light_settings(), Streams(4), Parallel(threads),
                              silent_progress())
          .draws;
    };
    EXPECT_EQ(draws(1), draws(2)) << twin.name;
    EXPECT_EQ(draws(1), draws(3)) << twin.name;
  }
}

TEST(Reference, GivesTheFourModesOfPeriodicSdeTheirEqualShares) {
  const auto likelihood = simulated(twins::periodic_sde(), 30, 5);
  const Reference reference =
      sample_reference(*likelihood, standard(*likelihood), 1000, {}, Streams(6), Parallel(2), silent_progress());
  ASSERT_EQ(reference.outcome, Outcome::ok);
  std::array<int, 4> counts{};
  for (std::size_t k = 0; k < 1000; ++k) {
    counts[(reference.draws(k, 0) > 0 ? 1U : 0U) + (reference.draws(k, 1) > 0 ? 2U : 0U)] += 1;
  }
  // 4.5 standard deviations of a binomial count: false alarm 3e-5.
  for (const int count : counts) EXPECT_NEAR(count, 250, 4.5 * std::sqrt(1000 * 0.25 * 0.75));
}

/// A posterior ten thousand times narrower than the prior, in four places: a starting population that does not know
/// that these are four, or of which few points move, ends as copies of one point, and its chains agree about it.
/// Against the posterior on a grid, ±8 deviations wide in one of the four quadrants.
TEST(Reference, FindsTheWidthOfNarrowModes) {
  const twins::Twin twin = twins::periodic_sde();
  const twins::State theta = {1.3, -1.1};
  Stream stream = Streams(17).stream("series");
  const auto likelihood = twin.likelihood(twins::series(twin, theta, 10000, stream));
  const Reference reference =
      sample_reference(*likelihood, standard(*likelihood), 1000, {}, Streams(18), Parallel(2), silent_progress());
  ASSERT_EQ(reference.outcome, Outcome::ok);
  std::array<double, 2> mean{}, deviation{};
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t k = 0; k < 1000; ++k) mean[i] += std::abs(reference.draws(k, i)) / 1000;
    for (std::size_t k = 0; k < 1000; ++k) deviation[i] += std::pow(std::abs(reference.draws(k, i)) - mean[i], 2) / 999;
    deviation[i] = std::sqrt(deviation[i]);
    ASSERT_GT(deviation[i], 1e-7);
  }
  const double origin = likelihood->log_likelihood(mean);
  constexpr int half = 60;
  std::array<double, 2> first{}, second{};
  double total = 0;
  for (int a = -half; a <= half; ++a) {
    for (int b = -half; b <= half; ++b) {
      const std::array<double, 2> off = {8.0 * a / half * deviation[0], 8.0 * b / half * deviation[1]};
      const std::array<double, 2> point = {mean[0] + off[0], mean[1] + off[1]};
      const double weight =
          std::exp(likelihood->log_likelihood(point) - origin - 0.5 * (point[0] * point[0] + point[1] * point[1]));
      total += weight;
      for (std::size_t i = 0; i < 2; ++i) first[i] += weight * off[i], second[i] += weight * off[i] * off[i];
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const double off = first[i] / total, exact = std::sqrt(second[i] / total - off * off);
    // 1,000 near-independent draws, 4.5 standard errors: 4 checks, false alarm 3e-5.
    EXPECT_LT(std::abs(off), 4.5 * exact / std::sqrt(1000.0)) << i;
    EXPECT_NEAR(deviation[i], exact, 4.5 * exact / std::sqrt(2000.0)) << i;
  }
}

TEST(Reference, RefusesChainsThatHaveNotMixed) {
  const auto likelihood = simulated(twins::linear_sde(2), 20, 7);
  ReferenceSettings settings;
  settings.round = 8;
  settings.rounds = 1;
  const Reference reference =
      sample_reference(*likelihood, standard(*likelihood), 10, settings, Streams(8), Parallel(2), silent_progress());
  EXPECT_EQ(reference.outcome, Outcome::not_mixed);
}

TEST(Reference, KeepsAPinnedParameterAtItsValue) {
  // Ordinary transitions, then prey dies out in one last leap and the hunters' decline shows γ exactly.
  const twins::State theta = {twins::rate(0.2), twins::rate(0.1), twins::rate(-0.3), twins::rate(0.4)};
  Stream stream = Streams(9).stream("series");
  Matrix series(7, 2);
  twins::State x = {1, 0.5};
  for (std::size_t t = 0; t < 5; ++t) {
    std::copy(x.begin(), x.end(), series.row(t).begin());
    x = twins::lotka_volterra_step(theta, x, 0.1, stream);
  }
  series(5, 0) = 0;
  series(5, 1) = 0.5;
  series(6, 1) = 0.5 * std::pow(1 - 0.02 * theta[2], 5);
  // From (x, y) to (0, 0.5) in one transition is absurd for σ = 0.1; a larger σ makes it merely rare.
  const auto likelihood = tasks::lotka_volterra::likelihood({.sigma = 2}, series, 8);
  const Reference reference = sample_reference(*likelihood, twins::lotka_volterra().prior(), 100, light_settings(),
                                               Streams(10), Parallel(2), silent_progress());
  ASSERT_EQ(reference.outcome, Outcome::ok);
  for (std::size_t k = 0; k < 100; ++k) EXPECT_NEAR(reference.draws(k, 2), theta[2], 1e-9);
  EXPECT_NE(reference.draws(0, 0), reference.draws(1, 0));
}

TEST(Reference, RefusesSettingsThatCannotWork) {
  const auto likelihood = simulated(twins::periodic_sde(), 2, 11);
  const auto run = [&](std::size_t n, const ReferenceSettings& settings) {
    return sample_reference(*likelihood, standard(*likelihood), n, settings, Streams(1), Parallel(1),
                            silent_progress());
  };
  EXPECT_THROW(run(0, {}), InputError);
  EXPECT_THROW(run(10, {.population = 16, .chains = 32}), InputError);
  EXPECT_THROW(run(10, {.largest_r_hat = 0.9}), InputError);
}

/// A likelihood whose residuals nobody knows.
class WithoutResiduals final : public tasks::SeriesLikelihood {
 public:
  explicit WithoutResiduals(const tasks::SeriesLikelihood& likelihood) : likelihood_(likelihood) {}
  std::size_t parameters() const override { return likelihood_.parameters(); }
  std::size_t transitions() const override { return likelihood_.transitions(); }
  void log_transitions(std::span<const double> theta, std::span<const double> u, std::span<double> out) const override {
    likelihood_.log_transitions(theta, u, out);
  }

 private:
  const tasks::SeriesLikelihood& likelihood_;
};

TEST(Reference, OfAFluidIsTheSameFromAFitAndFromTempering) {
  // 20 inner steps tell both parameters: deviations are some hundredths of the prior's.
  tasks::Task task = tasks::make_task("kolmogorov_flow", {{"grid", 32}, {"inner_steps", 20}});
  Stream stream = Streams(21).stream("fluid");
  Matrix theta(1, 2);
  theta(0, 0) = 0.4;
  theta(0, 1) = 150;
  const Matrix series = simulate::simulate_series(task, theta, 2, stream).front();
  const auto likelihood = tasks::series_likelihood(task, series);
  constexpr std::size_t n = 400;
  const auto sample = [&](const tasks::SeriesLikelihood& of) {
    return sample_reference(of, task.prior, n, light_settings(), Streams(22), Parallel(), silent_progress());
  };
  const Reference fitted = sample(*likelihood), tempered = sample(WithoutResiduals(*likelihood));
  ASSERT_EQ(fitted.outcome, Outcome::ok);
  ASSERT_EQ(tempered.outcome, Outcome::ok);
  EXPECT_EQ(fitted.start, "least squares");
  EXPECT_EQ(tempered.start, "tempering");
  EXPECT_LT(fitted.evaluations, tempered.evaluations / 2);
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<double> a(n), b(n);
    for (std::size_t r = 0; r < n; ++r) a[r] = fitted.draws(r, i), b[r] = tempered.draws(r, i);
    std::ranges::sort(a);
    EXPECT_GT(a.back(), theta(0, i));
    EXPECT_LT(a.front(), theta(0, i));
    for (const double q : {0.1, 0.5, 0.9}) {
      const double bound = a[static_cast<std::size_t>(q * n)];
      double share = 0;
      for (const double value : b) share += value <= bound ? 1.0 / n : 0;
      // Two sets of near-independent draws: 4.5 standard errors of a difference of shares, 4e-5 in all six.
      EXPECT_NEAR(share, q, 4.5 * std::sqrt(2 * q * (1 - q) / n)) << i;
    }
  }
}

TEST(Reference, RanksTheTruthUniformlyForEveryTask) {
  // The small version of tests/slow/reference_calibration_test.cpp: all tasks, T = 2, false alarm 0.001 in all.
  for (const twins::Twin& twin : twins::all()) {
    const Calibration result = calibrate(twin, 2, 32, 4, /*seed=*/12, Parallel());
    EXPECT_GT(result.smallest_p() * static_cast<double>(result.p_values.size()),
              0.001 / static_cast<double>(twins::all().size()))
        << twin.name;
    EXPECT_EQ(result.refused, 0U) << twin.name;
  }
}

}  // namespace catena::evaluate::reference_test

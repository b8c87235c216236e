// The order that every sampler declares, measured without Monte Carlo noise.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "catena/compose/rule.h"
#include "catena/sample/diffusion/engine.h"
#include "compose/analytic_scores.h"

namespace catena::sample::order_test {
namespace {

using compose::MixtureScores;
using diffusion::Schedule;

constexpr double end_eta = 0.1;

/// Slope of log error against log steps, by least squares.
double observed_order(const std::vector<double>& steps, const std::vector<double>& errors) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double u = std::log(steps[i]), v = std::log(errors[i]);
    x += u, y += v, xx += u * u, xy += u * v;
  }
  return -(n * xy - x * y) / (n * xx - x * x);
}

std::unique_ptr<compose::SeriesScore> plain(const MixtureScores& source, const Schedule& schedule, double precision) {
  compose::LocalPrecisions c(1, 1);
  c(0, 0) = precision;
  return compose::compose("gauss", {.source = &source, .schedule = schedule, .precisions = c});
}

TEST(EverySampler, OfTheProbabilityFlowHasItsOrderOnAMixture) {
  // In one dimension the flow keeps every particle at its quantile, so the exact end is known for each start.
  for (const diffusion::NamedSchedule& named : diffusion::schedules()) {
    const Schedule& schedule = named.schedule;
    const MixtureScores source({{0.4, -0.6, 0.5}, {0.6, 0.9, 0.7}}, schedule);
    const auto score = plain(source, schedule, 1);
    for (const Sampler& sampler : samplers()) {
      if (sampler.stochastic()) continue;
      std::vector<double> counts, errors;
      for (const std::size_t steps : {40, 80, 160, 320}) {
        const std::vector<Level> path = levels(schedule, steps, end_eta);
        const std::vector<double> shares{0.05, 0.2, 0.37, 0.5, 0.8, 0.97};
        Matrix y(shares.size(), 1);
        for (std::size_t i = 0; i < shares.size(); ++i) y(i, 0) = source.quantile(shares[i], path.front().eta);
        Engine engine(*score, sampler, shares.size(), 100);
        for (std::size_t i = 0; i < steps; ++i) engine.step(path[i], path[i + 1], y, [](std::span<double>) {});
        double error = 0;
        for (std::size_t i = 0; i < shares.size(); ++i) {
          error = std::max(error, std::abs(y(i, 0) - source.quantile(shares[i], path.back().eta)));
        }
        counts.push_back(static_cast<double>(steps));
        errors.push_back(error);
      }
      EXPECT_NEAR(observed_order(counts, errors), sampler.order, 0.2) << sampler.name << " " << named.name;
    }
  }
}

/// The law of y after all steps on a Gaussian target, exactly: a step is then affine, y ← α y + γ + Σ_k β_k ξ_k, and
/// its coefficients show when it is given unit vectors in place of noise.
std::pair<double, double> mean_and_variance(const compose::SeriesScore& score, const Sampler& sampler,
                                            const std::vector<Level>& path, double mean, double variance) {
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const auto corrections = static_cast<std::size_t>(Engine(score, sampler, 1, 100).corrections_at(path[i + 1]));
    const std::size_t draws = (sampler.stochastic() && sampler.predicts() ? 1 : 0) + corrections;
    // Rows: y = 0 and y = 1 without noise, then y = 0 with the k-th draw equal to one.
    Matrix y(2 + draws, 1);
    y(1, 0) = 1;
    std::size_t call = 0;
    Engine engine(score, sampler, y.rows(), 100);
    engine.step(path[i], path[i + 1], y, [&](std::span<double> out) {
      std::ranges::fill(out, 0.0);
      out[2 + call++] = 1;
    });
    EXPECT_EQ(call, draws);
    const double gamma = y(0, 0), alpha = y(1, 0) - gamma;
    mean = alpha * mean + gamma;
    variance *= alpha * alpha;
    for (std::size_t k = 0; k < draws; ++k) variance += (y(2 + k, 0) - gamma) * (y(2 + k, 0) - gamma);
  }
  return {mean, variance};
}

TEST(EverySampler, HasItsOrderInTheMomentsOfAGaussian) {
  const Schedule schedule;
  const double mu = 0.7, sd = 0.4;
  const MixtureScores source({{1, mu, sd}}, schedule);
  const auto score = plain(source, schedule, 1 / (sd * sd));
  for (const Sampler& sampler : samplers()) {
    if (sampler.order == 0) continue;
    std::vector<double> counts, variance_errors;
    for (const std::size_t steps : {80, 160, 320, 640}) {
      const std::vector<Level> path = levels(schedule, steps, end_eta);
      // A start away from the truth in its mean would leave an error that no number of steps removes.
      const double start = sd * sd + path.front().eta * path.front().eta;
      const auto [mean, variance] = mean_and_variance(*score, sampler, path, mu, start);
      counts.push_back(static_cast<double>(steps));
      variance_errors.push_back(std::abs(variance - (sd * sd + end_eta * end_eta)));
      EXPECT_NEAR(mean, mu, 1e-9) << sampler.name;
    }
    EXPECT_NEAR(observed_order(counts, variance_errors), sampler.order, 0.2) << sampler.name;
  }
}

TEST(AnnealedLangevin, LeavesTheExcessOfVarianceThatItsStepsAndLevelsExplain) {
  const Schedule schedule;
  const double mu = 0.7, sd = 0.4, rate = LangevinSteps{}.rate;
  const MixtureScores source({{1, mu, sd}}, schedule);
  const auto score = plain(source, schedule, 1 / (sd * sd));
  const Sampler& sampler = samplers().at("test", "annealed_langevin");
  for (const std::size_t steps : {80, 160, 320, 640}) {
    const std::vector<Level> path = levels(schedule, steps, end_eta);
    const double start = sd * sd + path.front().eta * path.front().eta, exact = sd * sd + end_eta * end_eta;
    const auto [mean, variance] = mean_and_variance(*score, sampler, path, mu, start);
    EXPECT_NEAR(mean, mu, 1e-9);
    const double ratio = std::log(path[0].eta / path[1].eta);
    const double from_levels = 2 * ratio / (rate * sampler.corrections);
    const double from_steps = 0.5 * rate * end_eta * end_eta / exact;
    // Both are leading terms; what they leave out is smaller by a factor of the same size.
    EXPECT_NEAR(variance / exact - 1, from_levels + from_steps, 0.5 * (from_levels + from_steps)) << steps;
  }
}

TEST(StochasticSamplers, AreOfStrongOrderOneBecauseTheirNoiseIsAdditive) {
  // The reverse diffusion of a Gaussian is linear; a path on a fine grid serves as the truth for coarse grids that
  // see the same Brownian path: the noise of a coarse step is the sum of its fine ones.
  const Schedule schedule;
  const MixtureScores source({{1, 0.7, 0.4}}, schedule);
  const auto score = plain(source, schedule, 1 / 0.16);
  const std::size_t fine = 10240, paths = 64;
  const std::vector<Level> grid = levels(schedule, fine, end_eta);
  std::vector<Matrix> increments(fine, Matrix(paths, 1));
  Stream stream = Streams(9).stream("paths");
  for (std::size_t i = 0; i < fine; ++i) {
    stream.fill_normal(increments[i].values());
    const double variance = grid[i].eta * grid[i].eta - grid[i + 1].eta * grid[i + 1].eta;
    for (double& value : increments[i].values()) value *= std::sqrt(variance);
  }
  const auto run = [&](const Sampler& sampler, std::size_t stride) {
    Matrix y(paths, 1);
    Engine engine(*score, sampler, paths, 100);
    for (std::size_t i = 0; i < fine; i += stride) {
      const Level &from = grid[i], &to = grid[i + stride];
      engine.step(from, to, y, [&](std::span<double> out) {
        std::ranges::fill(out, 0.0);
        for (std::size_t j = i; j < i + stride; ++j) {
          for (std::size_t p = 0; p < paths; ++p) out[p] += increments[j](p, 0);
        }
        for (double& value : out) value /= std::sqrt(from.eta * from.eta - to.eta * to.eta);
      });
    }
    return y;
  };
  const Matrix truth = run(samplers().at("test", "stochastic_heun"), 1);
  for (const char* name : {"euler_maruyama", "stochastic_heun"}) {
    std::vector<double> counts, errors;
    for (const std::size_t stride : {256, 128, 64, 32}) {
      const Matrix y = run(samplers().at("test", name), stride);
      double squared = 0;
      for (std::size_t p = 0; p < paths; ++p) squared += std::pow(y(p, 0) - truth(p, 0), 2);
      counts.push_back(static_cast<double>(fine) / static_cast<double>(stride));
      errors.push_back(std::sqrt(squared / paths));
    }
    EXPECT_NEAR(observed_order(counts, errors), 1, 0.2) << name;
  }
}

}  // namespace
}  // namespace catena::sample::order_test

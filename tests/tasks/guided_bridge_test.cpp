// The likelihoods that are estimated by guided bridges (lotka_volterra, sir): unbiased, and right about clipping.

#include <gtest/gtest.h>

#include "catena/core/errors.h"
#include "catena/tasks/exact/normal.h"
#include "evaluate/reference_twins.h"

namespace catena::tasks::guided_bridge_test {

struct MeanAndError {
  double mean, error;
};

/// The mean of p̂ over independent u, with its standard error.
MeanAndError average_estimate(const SeriesLikelihood& likelihood, const twins::State& theta, int repetitions,
                              Stream& stream) {
  std::vector<double> u(likelihood.normals_per_transition()), term(1);
  double sum = 0, squares = 0;
  for (int i = 0; i < repetitions; ++i) {
    stream.fill_normal(u);
    likelihood.log_transitions(theta, u, term);
    const double p = std::exp(term[0]);
    sum += p / repetitions, squares += p * p / repetitions;
  }
  return {sum, std::sqrt((squares - sum * sum) / repetitions)};
}

Matrix one_transition(const twins::State& from, const twins::State& to) {
  Matrix series(2, from.size());
  std::copy(from.begin(), from.end(), series.row(0).begin());
  std::copy(to.begin(), to.end(), series.row(1).begin());
  return series;
}

double normal(double x, double mean, double sd) { return std::exp(exact::log_normal_density(x, mean, sd)); }
double below_zero(double mean, double sd) { return std::exp(exact::log_normal_cdf(-mean / sd)); }

TEST(LotkaVolterraLikelihood, IsUnbiasedForTwoStepsByQuadrature) {
  // One inner state: a two-dimensional integral, for an ordinary end and for clipped ones (large noise). The outer
  // variable is the clipped coordinate, on a midpoint grid with a cell border at 0, where the integrand jumps; the
  // inner one follows the product of two Gaussians that the integrand is in it.
  const twins::State theta = {twins::rate(0.3), twins::rate(-0.5), twins::rate(0.8), twins::rate(0.1)};
  const double alpha = theta[0], beta = theta[1], gamma = theta[2], delta = theta[3], dt = 0.02, sigma = 1.5;
  // Growth factors of both coordinates at (x, y).
  const auto factor = [&](std::size_t i, double x, double y) {
    return 1 + (i == 0 ? alpha - beta * y : delta * x - gamma) * dt;
  };
  int stream_index = 0;
  for (const twins::State& end : {twins::State{1.2, 1.3}, twins::State{0.0, 1.4}, twins::State{1.4, 0.0}}) {
    const std::size_t c = end[1] == 0 ? 1 : 0, o = 1 - c;
    const twins::State start = c == 0 ? twins::State{1, 1.5} : twins::State{1.5, 1};  // clipping is a 3-sigma event
    const double sd0 = sigma * start[0] * start[1] * std::sqrt(dt);
    const double c_mean = start[c] * factor(c, start[0], start[1]), o_mean = start[o] * factor(o, start[0], start[1]);
    double expected = 0;
    const double h = sd0 / 400;
    for (double cell = std::floor((c_mean - 7 * sd0) / h); cell < (c_mean + 7 * sd0) / h; ++cell) {
      const double zc = h * (cell + 0.5);
      const auto growth = [&](std::size_t i, double zo) { return c == 0 ? factor(i, zc, zo) : factor(i, zo, zc); };
      // Where the inner Gaussians meet: o_mean ± sd0 and end/growth ± sd/growth.
      const double g = growth(o, end[o]), sd = std::abs(sigma * zc * end[o]) * std::sqrt(dt);
      const double precision = 1 / (sd0 * sd0) + g * g / (sd * sd), width = 1 / std::sqrt(precision);
      const double centre = (o_mean / (sd0 * sd0) + g * end[o] / (sd * sd)) / precision;
      constexpr int points = 120;
      for (int i = 0; i <= points; ++i) {
        const double zo = centre + width * (-10 + 20.0 * i / points);
        const double last = std::abs(sigma * zc * zo) * std::sqrt(dt);
        const double pc = end[c] == 0 ? below_zero(zc * growth(c, zo), last) : normal(end[c], zc * growth(c, zo), last);
        expected += h * width * 20 / points * normal(zc, c_mean, sd0) * normal(zo, o_mean, sd0) * pc *
                    normal(end[o], zo * growth(o, zo), last);
      }
    }
    const auto likelihood = lotka_volterra::likelihood({.sigma = sigma}, one_transition(start, end), /*particles=*/100,
                                                       {.steps = 2, .dt = dt});
    Stream stream = Streams(1).stream("u", stream_index++);
    const MeanAndError estimate = average_estimate(*likelihood, theta, 400, stream);
    // 3 checks at 4.5 standard errors: false alarm 2e-5; 2e-3 for the quadrature near the jump.
    EXPECT_NEAR(estimate.mean, expected, 4.5 * estimate.error + 2e-3 * expected) << end[0] << ", " << end[1];
    EXPECT_LT(estimate.error, 0.02 * expected) << end[0] << ", " << end[1];  // so that the check above can fail
  }
}

TEST(LotkaVolterraLikelihood, HasTheClippedMassOfSimulations) {
  // Five steps, large noise: the share of transitions that end with x = 0 and y between two bounds.
  const twins::State theta = {twins::rate(0.3), twins::rate(-0.5), twins::rate(0.8), twins::rate(0.1)};
  const twins::State start = {0.5, 3};
  constexpr double sigma = 1.2, low = 2.3, high = 2.8;
  constexpr int n = 100000, cells = 10;
  Stream stream = Streams(2).stream("simulate");
  int hits = 0;
  for (int i = 0; i < n; ++i) {
    const twins::State end = twins::lotka_volterra_step(theta, start, sigma, stream);
    hits += end[0] == 0 && end[1] > low && end[1] < high ? 1 : 0;
  }
  double mass = 0, variance = 0;
  for (int c = 0; c < cells; ++c) {
    const double width = (high - low) / cells;
    const auto likelihood =
        lotka_volterra::likelihood({.sigma = sigma}, one_transition(start, {0, low + (c + 0.5) * width}), 100);
    const MeanAndError estimate = average_estimate(*likelihood, theta, 200, stream);
    mass += width * estimate.mean;
    variance += width * width * estimate.error * estimate.error;
  }
  const double share = static_cast<double>(hits) / n;
  ASSERT_GT(hits, 1000);
  EXPECT_NEAR(mass, share, 4.5 * std::sqrt(share / n + variance));  // false alarm 7e-6
  EXPECT_LT(std::sqrt(variance), 0.03 * mass);
}

TEST(SirLikelihood, IsUnbiasedForTwoStepsByQuadrature) {
  const twins::State theta = {2 * twins::sigmoid(0.5), 2 * twins::sigmoid(-0.3)};
  const double gamma = theta[0], beta = theta[1], dt = 0.01;
  const double s_sd = 0.01 * std::sqrt(dt), r_sd = 0.01 * std::sqrt(2 * dt);
  int stream_index = 0;
  // An ordinary end; R clipped; S clipped from close to 0.
  for (const auto& [from, to] : {std::pair<twins::State, twins::State>{{3, 1, 0.5}, {2.945, 1.03, 0.526}},
                                 {{3, 0.05, 0.0}, {2.998, 0.0525, 0.0}},
                                 {{0.001, 1, 0.5}, {0.0, 0.98, 0.525}}}) {
    const double s0 = from[0], i0 = from[1], i_sd0 = 0.1 * i0 * std::sqrt(dt);
    const double s_mean = s0 - beta * s0 * i0 * dt, i_mean = i0 + (beta * s0 - gamma) * i0 * dt;
    double expected = 0;
    constexpr int points = 161;
    for (int a = 0; a < points; ++a) {
      for (int b = 0; b < points; ++b) {
        const double za = -8 + 16.0 * a / (points - 1), zb = -8 + 16.0 * b / (points - 1);
        const double s = s_mean + za * s_sd, i = i_mean + zb * i_sd0;
        const double s_next = s - beta * s * i * dt, i_next = i + (beta * s - gamma) * i * dt;
        const double ps = to[0] == 0 ? below_zero(s_next, s_sd) : normal(to[0], s_next, s_sd);
        const double r_next = from[2] + gamma * dt * (i0 + i);
        const double pr = to[2] == 0 ? below_zero(r_next, r_sd) : normal(to[2], r_next, r_sd);
        expected +=
            0.01 * normal(za, 0, 1) * normal(zb, 0, 1) * ps * pr * normal(to[1], i_next, 0.1 * i * std::sqrt(dt));
      }
    }
    const auto likelihood = sir::likelihood(one_transition(from, to), 10, {.steps = 2});
    Stream stream = Streams(3).stream("u", stream_index++);
    const MeanAndError estimate = average_estimate(*likelihood, theta, 2000, stream);
    EXPECT_NEAR(estimate.mean, expected, 4.5 * estimate.error + 1e-6 * expected) << to[0];  // false alarm 2e-5
    EXPECT_LT(estimate.error, 0.02 * expected);
  }
}

TEST(SirLikelihood, DoesNotDependOnTheParametersOnceNobodyIsInfected) {
  const auto likelihood = sir::likelihood(one_transition({2, 0, 1}, {2.001, 0, 0.999}));
  std::vector<double> u(likelihood->normals_per_transition(), 0.3), a(1), b(1);
  likelihood->log_transitions(std::vector<double>{1, 1}, u, a);
  likelihood->log_transitions(std::vector<double>{1.5, 0.2}, u, b);
  EXPECT_EQ(a[0], b[0]);
  const double sd = 0.01 * std::sqrt(0.05);
  EXPECT_NEAR(a[0], exact::log_normal_density(2.001, 2, sd) + exact::log_normal_density(0.999, 1, sd), 1e-12);
  EXPECT_THROW(sir::likelihood(one_transition({2, 0, 1}, {2, 0.1, 1})), InputError);
}

TEST(LotkaVolterraLikelihood, PinsTheRateThatANoiseFreeTransitionShows) {
  Matrix series(3, 2);  // (0, 2) → (0, 2 (1 − 0.02 γ)⁵) → …, γ = 1 + 2 sigmoid(0.4)
  const double gamma = twins::rate(0.4);
  series(0, 1) = 2;
  for (std::size_t t = 0; t < 2; ++t) series(t + 1, 1) = series(t, 1) * std::pow(1 - 0.02 * gamma, 5);
  const auto pinned = lotka_volterra::likelihood({}, series)->pinned();
  ASSERT_EQ(pinned.size(), 1U);
  EXPECT_EQ(pinned[0].index, 2U);
  EXPECT_NEAR(pinned[0].value, gamma, 1e-10);
  const auto likelihood = lotka_volterra::likelihood({}, series);
  EXPECT_NEAR(likelihood_in_z(*likelihood, twins::lotka_volterra().prior())->pinned()[0].value, 0.4, 1e-10);
  // Prey alone: α.
  const double alpha = twins::rate(-0.6);
  const auto prey =
      lotka_volterra::likelihood({}, one_transition({1.5, 0}, {1.5 * std::pow(1 + 0.02 * alpha, 5), 0}))->pinned();
  ASSERT_EQ(prey.size(), 1U);
  EXPECT_EQ(prey[0].index, 0U);
  EXPECT_NEAR(prey[0].value, alpha, 1e-10);
}

TEST(LotkaVolterraLikelihood, RefusesWhatTheSimulatorCannotDo) {
  EXPECT_THROW(lotka_volterra::likelihood({}, one_transition({0, 2}, {0.1, 1.8})), InputError);  // prey from nothing
  EXPECT_THROW(lotka_volterra::likelihood({}, one_transition({0, 2}, {0, 2.5})), InputError);    // no γ grows hunters
  EXPECT_THROW(lotka_volterra::likelihood({}, one_transition({1, 1}, {1, -0.1})), InputError);   // not clipped
  Matrix series(3, 2);
  series(0, 1) = 2;
  series(1, 1) = 2 * std::pow(1 - 0.02 * 1.5, 5);
  series(2, 1) = series(1, 1) * std::pow(1 - 0.02 * 1.6, 5);  // another γ
  EXPECT_THROW(lotka_volterra::likelihood({}, series), InputError);
}

}  // namespace catena::tasks::guided_bridge_test

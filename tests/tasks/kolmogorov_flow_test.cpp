// The solver of kolmogorov_flow against a slow twin in double precision, a vortex whose decay is known, and what every
// such fluid keeps: no divergence, and a balance of energy.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>

#include "catena/core/errors.h"
#include "catena/simulate/proposal.h"
#include "catena/simulate/transitions/transitions.h"
#include "catena/tasks/kolmogorov_flow/solver.h"
#include "catena/tasks/likelihood.h"
#include "kolmogorov_flow_twin.h"

namespace catena::tasks::kolmogorov_flow_test {

using kolmogorov_flow::Constants;
using kolmogorov_flow::Flow;
using kolmogorov_flow::Options;
using kolmogorov_flow::Solver;

namespace {

constexpr double pi = std::numbers::pi;
/// Half a unit in the last place of 1, single precision.
constexpr double rounding = std::numeric_limits<float>::epsilon() / 2;

using Velocity = std::function<std::pair<double, double>(double x, double y)>;

/// u and v of a velocity where the staggered grid has them.
std::vector<float> on_grid(int n, const Velocity& velocity) {
  const double h = 2 * pi / n;
  std::vector<float> state;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) state.push_back(static_cast<float>(velocity((i + 1) * h, (j + 0.5) * h).first));
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) state.push_back(static_cast<float>(velocity((i + 0.5) * h, (j + 1) * h).second));
  }
  return state;
}

std::vector<float> run(const Options& options, double dt, std::vector<float> state, double density, double reynolds) {
  const Solver solver(options, {.dt = dt});
  Flow flow(solver.side());
  solver.read(state, flow);
  solver.run(density, reynolds, flow);
  solver.write(flow, std::span(state));
  return state;
}

/// An initial state of the task.
std::vector<float> start(const Options& options, std::uint64_t seed) {
  const Solver solver(options);
  std::vector<double> state(options.states());
  Stream stream = Streams(seed).stream("start");
  kolmogorov_flow::initial_state(solver, options, stream, state);
  return {state.begin(), state.end()};
}

double largest(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double most, float value) { return std::max(most, std::abs(static_cast<double>(value))); });
}

double root_mean_square(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

double energy(const std::vector<float>& state) {
  double sum = 0;
  for (const float value : state) sum += 0.5 * static_cast<double>(value) * value;
  return sum / (static_cast<double>(state.size()) / 2);
}

/// The Taylor–Green vortex turns in place and decays: u = cos x sin y, v = −sin x cos y, both times e^(−(2ν + c) t/ρ).
Velocity taylor_green(double size) {
  return [size](double x, double y) {
    return std::pair(size * std::cos(x) * std::sin(y), -size * std::sin(x) * std::cos(y));
  };
}

}  // namespace

TEST(KolmogorovFlow, EqualsItsTwinInDoublePrecisionAfterOneInnerStep) {
  for (const int n : {32, 64, 128}) {
    for (const std::uint64_t seed : {1, 2}) {
      Options options;
      options.grid = n;
      options.inner_steps = 1;
      const std::vector<float> before = start(options, seed);
      const twins::FluidTwin twin{.density = 0.3, .reynolds = 700};
      const std::vector<float> after = run(options, 0.001, before, 0.3, 700);
      const std::vector<double> expected = twin.run(n, {before.begin(), before.end()}, 1);
      // c* is a sum of c and some ten terms that are a few hundredths of it, q one of four products of the divergence,
      // itself a difference of numbers of the size of c: two roundings of c, and some of terms below a tenth of it.
      const double tolerance = 4 * rounding * largest(before);
      for (std::size_t i = 0; i < after.size(); ++i) ASSERT_NEAR(after[i], expected[i], tolerance) << n << " " << i;
    }
  }
}

TEST(KolmogorovFlow, TakesUpwindValuesAndLimitersAsItsTwinDoesAtKinks) {
  // Steps, plateaus (a zero denominator of r), zeros of the velocity and both its signs.
  Options options;
  options.grid = 32;
  options.inner_steps = 1;
  std::vector<float> before(options.states());
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = static_cast<float>(static_cast<int>(i / 3 % 5) - 2);
  const std::vector<float> after = run(options, 0.001, before, 0.9, 50);
  const std::vector<double> expected =
      twins::FluidTwin{.density = 0.9, .reynolds = 50}.run(32, {before.begin(), before.end()}, 1);
  // The divergence here is of the size of the velocity over h, and its products of 32 terms with W (norm 1) are rounded
  // relative to their largest: some √32 roundings of each of four.
  const double tolerance = 4 * std::sqrt(32.0) * rounding * 2 * largest(before);
  for (std::size_t i = 0; i < after.size(); ++i) ASSERT_NEAR(after[i], expected[i], tolerance) << i;
}

TEST(KolmogorovFlow, HasNoDivergenceAfterAStep) {
  for (const int n : {32, 64, 128}) {
    Options options;
    options.grid = n;
    options.inner_steps = 10;
    const std::vector<float> state = run(options, 0.001, start(options, 3), 0.3, 700);
    twins::Grid u(n), v(n);
    const auto half = static_cast<std::ptrdiff_t>(u.values.size());
    u.values.assign(state.begin(), state.begin() + half);
    v.values.assign(state.begin() + half, state.end());
    // Of differences of neighbours: each of four values is rounded, and so is the difference of pressures in it.
    const double tolerance = 8 * rounding * largest(state);
    for (const double d : twins::FluidTwin::divergence(u, v).values) {
      ASSERT_LT(std::abs(d) * 2 * pi / n, tolerance) << n;
    }
  }
}

TEST(KolmogorovFlow, KeepsMomentumUpToForceAndFriction) {
  // The mean velocity feels neither pressure nor convection: with friction c it decays by (1 − c dt/ρ) a step, whatever
  // the fluid does, since the force has mean 0.
  Options options;
  options.inner_steps = 50;
  std::vector<float> before = start(options, 4);
  const std::size_t half = before.size() / 2;
  for (std::size_t i = 0; i < before.size(); ++i) before[i] += i < half ? 0.5F : -0.25F;
  const std::vector<float> after = run(options, 0.001, before, 0.5, 1000);
  const auto mean = [&](const std::vector<float>& state, std::size_t begin) {
    return std::accumulate(state.begin() + static_cast<std::ptrdiff_t>(begin),
                           state.begin() + static_cast<std::ptrdiff_t>(begin + half), 0.0) /
           static_cast<double>(half);
  };
  const double decay = std::pow(1 - 0.1 * 0.001 / 0.5, 50);
  // 50 steps, each rounds values below 4: their mean feels √50 of that if roundings are random, 50 times if not.
  const double tolerance = 50 * rounding * 4;
  EXPECT_NEAR(mean(after, 0), decay * mean(before, 0), tolerance);
  EXPECT_NEAR(mean(after, half), decay * mean(before, half), tolerance);
}

TEST(KolmogorovFlow, BalancesEnergy) {
  // With Δ what a step adds to c, E the mean over cells of (u² + v²)/2: E grows by c·Δ + |Δ|²/2, where c·Δ is dt times
  // −(ν/ρ)|∇c|² + (f·u − 2 friction E)/ρ (the pressure does no work on a fluid without divergence), less what upwinding
  // takes: nothing else, and that falls with h.
  std::vector<double> lost;
  for (const int n : {32, 64, 128}) {
    Options options;
    options.grid = n;
    options.inner_steps = 1;
    const double density = 0.5, reynolds = 200, dt = 1e-4, h = 2 * pi / n;
    std::vector<float> state = run(options, dt,
                                   on_grid(n,
                                           [](double x, double y) {
                                             return std::pair(std::cos(x) * std::sin(y) + 0.5 * std::sin(2 * y),
                                                              -std::sin(x) * std::cos(y) + 0.5 * std::cos(x));
                                           }),
                                   density, reynolds);
    const double before = energy(state);
    double balance = 0;
    for (int step = 0; step < 100; ++step) {
      twins::Grid u(n), v(n);
      const auto half = static_cast<std::ptrdiff_t>(u.values.size());
      u.values.assign(state.begin(), state.begin() + half);
      v.values.assign(state.begin() + half, state.end());
      double gradients = 0, work = 0;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          for (const twins::Grid* c : {&u, &v}) {
            gradients +=
                (std::pow((*c)(i + 1, j) - (*c)(i, j), 2) + std::pow((*c)(i, j + 1) - (*c)(i, j), 2)) / (h * h);
          }
          work += std::sin(4 * (j + 0.5) * h) * u(i, j);
        }
      }
      const double cells = n * n;
      balance += dt * (-gradients / reynolds / density + work / density) / cells - dt * 0.2 * energy(state) / density;
      const std::vector<float> next = run(options, dt, state, density, reynolds);
      balance += std::pow(root_mean_square(next, state), 2);  // twice the mean over cells of both components, halved
      state = next;
    }
    lost.push_back(before + balance - energy(state));
  }
  EXPECT_GT(lost[2], 0);
  // Second order where the flow is smooth, first order at its extrema: between a half and a quarter each time.
  EXPECT_LT(lost[1], 0.5 * lost[0]);
  EXPECT_LT(lost[2], 0.5 * lost[1]);
  EXPECT_LT(lost[2], 2e-4);
}

TEST(KolmogorovFlow, LetsATaylorGreenVortexDecayAsItShould) {
  // Of second order where the flow is smooth. At extrema the limiter errs by h² in a strip that is h wide, which is
  // order 2.5 of the root mean square: between 2 and 3 in all.
  std::vector<double> errors;
  for (const int n : {32, 64, 128}) {
    Options options;
    options.grid = n;
    options.forcing = 0;
    options.inner_steps = 1000;
    // So short that Euler's error, which does not fall with h, is small beside that of the finest grid.
    const double density = 0.8, reynolds = 20, dt = 1e-4, time = 1000 * dt;
    const std::vector<float> state = run(options, dt, on_grid(n, taylor_green(1)), density, reynolds);
    const double decay = std::exp(-(2 / reynolds + 0.1) / density * time);
    errors.push_back(root_mean_square(state, on_grid(n, taylor_green(decay))));
  }
  const double first = std::log2(errors[0] / errors[1]), second = std::log2(errors[1] / errors[2]);
  EXPECT_GT(first, 2);
  EXPECT_LT(first, 3);
  EXPECT_GT(second, 2);
  EXPECT_LT(second, 3);
  EXPECT_LT(errors[1], 1e-4);  // of a velocity of 1
}

TEST(KolmogorovFlow, ConvergesInSpaceToAFineSolution) {
  // The same smooth velocity on 32, 64 and 128 cells against 256, which is no option of the task: the solver itself
  // takes any multiple of 32. Values are compared where grids share faces: u of a coarse face is the mean of two.
  const Velocity velocity = [](double x, double y) {
    return std::pair(std::sin(y) + 0.4 * std::cos(2 * y) * std::cos(x),
                     std::cos(x) + 0.2 * std::sin(2 * y) * std::sin(x));
  };
  const auto solve = [&](int n) {
    Options options;
    options.grid = n;
    options.inner_steps = 100;
    return run(options, 5e-4, on_grid(n, velocity), 0.5, 50);
  };
  const std::vector<float> fine = solve(256);
  const auto from_fine = [&](int n) {
    const int ratio = 256 / n;
    std::vector<float> result;
    for (int c = 0; c < 2; ++c) {
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          // The face of a component is at the end of the cell along it and at its middle across it.
          const auto value = [&](int a, int b) {
            return static_cast<double>(fine[static_cast<std::size_t>(c * 256 + a) * 256 + static_cast<std::size_t>(b)]);
          };
          const int end_i = ratio * (i + 1) - 1, end_j = ratio * (j + 1) - 1;
          const int mid_i = ratio * i + ratio / 2, mid_j = ratio * j + ratio / 2;
          result.push_back(static_cast<float>(c == 0 ? (value(end_i, mid_j - 1) + value(end_i, mid_j)) / 2
                                                     : (value(mid_i - 1, end_j) + value(mid_i, end_j)) / 2));
        }
      }
    }
    return result;
  };
  const double coarse = root_mean_square(solve(32), from_fine(32)), middle = root_mean_square(solve(64), from_fine(64));
  const double order = std::log2(coarse / middle);
  EXPECT_GT(order, 1.6);
  EXPECT_LT(order, 2.4);
}

TEST(KolmogorovFlow, IsOfFirstOrderInTime) {
  const std::vector<float> before = start(Options{.grid = 32}, 5);
  const auto solve = [&](int steps) { return run({.grid = 32, .inner_steps = steps}, 0.08 / steps, before, 0.5, 500); };
  const std::vector<float> fine = solve(640);
  const double long_steps = root_mean_square(solve(20), fine), short_steps = root_mean_square(solve(40), fine);
  // An error c dt against a solution of its own error c/32 of the first: log2((1 − 1/32)/(1/2 − 1/32)) = 1.05.
  const double order = std::log2(long_steps / short_steps);
  EXPECT_GT(order, 0.9);
  EXPECT_LT(order, 1.2);
}

TEST(KolmogorovFlow, StartsAtTheLargestSpeedWithItsSpectrumAtThePeak) {
  Options options;
  const std::vector<float> state = start(options, 6);
  const std::size_t half = state.size() / 2;
  double most = 0;
  for (std::size_t i = 0; i < half; ++i) most = std::max<double>(most, std::hypot(state[i], state[half + i]));
  EXPECT_NEAR(most, 3, 10 * rounding * 3);
  // Energy per shell of |k|, averaged over states: a velocity amplitude of log-normal/k over 2πk modes. From k = 1 to
  // 8, the expected share is proportional to ∫ over the shell of amplitude².
  std::vector<double> shells(9, 0.0), expected(9, 0.0);
  const auto amplitude = [](double k) {
    return std::exp(-2 * std::pow(std::log(k) - std::log(3.0) - 0.25, 2)) / (k * k);
  };
  for (int kx = -8; kx <= 8; ++kx) {
    for (int ky = -8; ky <= 8; ++ky) {
      const double k = std::hypot(kx, ky);
      const auto shell = static_cast<std::size_t>(std::lround(k));
      if (shell > 0 && shell <= 8) expected[shell] += std::pow(amplitude(k), 2);
    }
  }
  constexpr int states = 20;
  for (std::uint64_t seed = 0; seed < states; ++seed) {
    const std::vector<float> one = start(options, 100 + seed);
    for (int kx = -8; kx <= 8; ++kx) {
      for (int ky = -8; ky <= 8; ++ky) {
        const auto shell = static_cast<std::size_t>(std::lround(std::hypot(kx, ky)));
        if (shell == 0 || shell > 8) continue;
        for (std::size_t c = 0; c < 2; ++c) {
          double re = 0, im = 0;
          for (int i = 0; i < 64; ++i) {
            for (int j = 0; j < 64; ++j) {
              const double angle = 2 * pi * (kx * i + ky * j) / 64;
              const double value = one[c * half + static_cast<std::size_t>(i * 64 + j)];
              re += value * std::cos(angle);
              im += value * std::sin(angle);
            }
          }
          shells[shell] += re * re + im * im;
        }
      }
    }
  }
  const double total = std::accumulate(shells.begin(), shells.end(), 0.0);
  const double total_expected = std::accumulate(expected.begin(), expected.end(), 0.0);
  for (std::size_t k = 1; k <= 8; ++k) {
    // Shell 1 has 8 modes, half of them independent, one component each after projection: 80 chi-squared pairs in 20
    // states, 11 % standard error; and scaling to the largest speed weighs states. 4.5 of these.
    const double share = shells[k] / total, wanted = expected[k] / total_expected;
    EXPECT_NEAR(share, wanted, 4.5 * 0.12 * wanted + 1e-3) << k;
  }
}

TEST(KolmogorovFlow, ReplacesWhatIsNotFinite) {
  // Far too large a density of momentum: the explicit steps explode, and nothing but 0 and ±3 is left.
  Task task = make_task("kolmogorov_flow", {{"grid", 32}});
  StateLanes theta(2, 1), x(task.simulator.states(), 1), next(task.simulator.states(), 1);
  theta(0, 0) = 1e-6;
  theta(1, 0) = 1;
  for (std::size_t i = 0; i < task.simulator.states(); ++i) x(i, 0) = i % 7 == 0 ? 1 : -1;
  Stream stream = Streams(1).stream("step");
  task.simulator.step({theta, x}, stream, next);
  for (std::size_t i = 0; i < task.simulator.states(); ++i) {
    EXPECT_TRUE(next(i, 0) == 0 || std::abs(next(i, 0)) == 3) << next(i, 0);
  }
}

TEST(KolmogorovFlow, MakesTheSameTransitionsOnOneTwoAndFiveThreads) {
  const Task task = make_task("kolmogorov_flow", {{"grid", 32}, {"inner_steps", 3}});
  const simulate::SimulationPlan plan{.proposal = {}, .budget = 250, .seed = 3};
  const auto one = simulate::simulate(task, plan, Parallel(1), silent_progress());
  EXPECT_EQ(one.x_next.rows(), 250U);
  for (const int threads : {2, 5}) {
    const auto other = simulate::simulate(task, plan, Parallel(threads), silent_progress());
    EXPECT_EQ(one.theta, other.theta);
    EXPECT_EQ(one.x, other.x);
    EXPECT_EQ(one.x_next, other.x_next);
  }
}

TEST(KolmogorovFlow, IsStoredInSinglePrecision) {
  const Task task = make_task("kolmogorov_flow", {{"grid", 32}, {"inner_steps", 1}});
  const simulate::SimulationPlan plan{.proposal = {}, .budget = 130, .seed = 4};
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "kolmogorov_flow.nc";
  simulate::simulate_to_file(path, task, plan, Parallel(2), silent_progress());
  const auto stored = simulate::read_transitions(path),
             made = simulate::simulate(task, plan, Parallel(1), silent_progress());
  ASSERT_EQ(stored.x_next.rows(), 130U);
  EXPECT_EQ(stored.theta, made.theta);
  for (std::size_t r = 0; r < 130; ++r) {
    for (std::size_t i = 0; i < task.simulator.states(); ++i) {
      ASSERT_EQ(stored.x(r, i), static_cast<double>(static_cast<float>(made.x(r, i))));
      ASSERT_EQ(stored.x_next(r, i), static_cast<double>(static_cast<float>(made.x_next(r, i))));
    }
  }
  EXPECT_LT(std::filesystem::file_size(path), sizeof(float) * 130 * 2 * 2048 * 3 / 2);  // half of what doubles take
  std::filesystem::remove(path);
}

TEST(KolmogorovFlow, RefusesOtherGrids) {
  EXPECT_THROW(make_task("kolmogorov_flow", {{"grid", 48}}), InputError);
  EXPECT_THROW(make_task("kolmogorov_flow", {{"sigma", 0.0}}), InputError);
  EXPECT_THROW(make_task("kolmogorov_flow", {{"inner_steps", 0}}), InputError);
}

}  // namespace catena::tasks::kolmogorov_flow_test

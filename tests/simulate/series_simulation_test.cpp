#include "catena/simulate/whole_series/series_simulation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/core/errors.h"
#include "catena/tasks/task.h"

namespace catena::simulate::series_simulation_test {

SeriesSet simulated(std::string_view task, std::size_t transitions, std::uint64_t budget, int threads = 2,
                    bool from_initial = false) {
  SimulationPlan plan;
  if (!from_initial) plan.proposal = {{"proposal", "fixed"}};
  plan.budget = budget;
  plan.seed = 5;
  return simulate_series_set(tasks::make_task(task), plan, {transitions, from_initial}, Parallel(threads),
                             silent_progress());
}

/// What the walk x' = 0.9 x + θ + ε adds at each transition beside its mean: standard normal numbers.
std::vector<double> noise_of(const SeriesSet& set) {
  std::vector<double> noise;
  for (std::size_t s = 0; s < set.size(); ++s) {
    const ConstMatrixView x = set.series(s).states;
    for (std::size_t t = 0; t + 1 < x.rows; ++t) noise.push_back(x(t + 1, 0) - 0.9 * x(t, 0) - set.theta_of(s)[0]);
  }
  return noise;
}

double mean_of(const std::vector<double>& values, int power) {
  double sum = 0;
  for (const double value : values) sum += std::pow(value, power);
  return sum / static_cast<double>(values.size());
}

TEST(SeriesSimulation, MakesSeriesOfOneThetaEachAndCountsTransitions) {
  for (const bool from_initial : {false, true}) {
    const SeriesSet set = simulated("gaussian_rw", 8, 20003, 2, from_initial);
    EXPECT_EQ(set.size(), 2500U);  // 20003/8
    for (std::size_t s = 0; s < set.size(); ++s) ASSERT_EQ(set.length(s), 9U);
    const std::vector<double> noise = noise_of(set);
    // 20,000 standard normal numbers: four checks of 4.5 standard errors, wrong once in 40,000 seeds.
    const double error = 4.5 / std::sqrt(20000.0);
    EXPECT_LT(std::abs(mean_of(noise, 1)), error);
    EXPECT_LT(std::abs(mean_of(noise, 2) - 1), std::sqrt(2.0) * error);
    EXPECT_EQ(set.provenance["series"]["transitions"], 8);
    EXPECT_EQ(set.provenance["budget"], 20003);
  }
}

TEST(SeriesSimulation, StartsWhereItIsTold) {
  std::vector<double> proposed;
  const SeriesSet set = simulated("gaussian_rw", 2, 4000);
  for (std::size_t s = 0; s < set.size(); ++s) proposed.push_back(set.series(s).states(0, 0));
  EXPECT_NEAR(mean_of(proposed, 2), 100, 4.5 * 100 * std::sqrt(2.0 / 2000));  // N(0, 10²); wrong once in 150,000
  const SeriesSet given = simulated("gaussian_rw", 2, 4000, 2, /*from_initial=*/true);
  for (std::size_t s = 0; s < given.size(); ++s) ASSERT_EQ(given.series(s).states(0, 0), 0);
}

TEST(SeriesSimulation, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const bool from_initial : {false, true}) {
    const SeriesSet one = simulated("lotka_volterra", 3, 9000, 1, from_initial);
    for (const int threads : {2, 5}) {
      const SeriesSet other = simulated("lotka_volterra", 3, 9000, threads, from_initial);
      EXPECT_EQ(other.states, one.states);
      EXPECT_EQ(other.theta, one.theta);
    }
  }
}

TEST(SeriesSimulation, KeepsTheTimesOfASimulatorThatUsesThem) {
  const SeriesSet set = simulated("ti_gaussian_rw", 4, 400);
  EXPECT_TRUE(set.uses_time);
  const SeriesTransitions rows = transitions_of("test", set);
  ASSERT_EQ(rows.set.time.cols(), 1U);
  double last = 0;
  for (std::size_t s = 0; s < set.size(); ++s) {
    for (std::size_t t = 0; t < 4; ++t) EXPECT_EQ(rows.set.time(4 * s + t, 0), set.series(s).times[t]);
    last = std::max(last, set.series(s).times[0]);
  }
  EXPECT_GT(last, 10);  // the proposal draws them up to 99
}

TEST(SeriesTransitions, AreThoseOfEachSeriesWithItsZ) {
  SeriesSet set;
  set.prior = prior::Prior::standard({"a"});
  set.state_names = {"x", "y"};
  const std::vector<double> values{0, 1, 2, 3, 4, 5};
  set.add(std::vector{0.25}, {.states = {values.data(), 3, 2}});
  set.add(std::vector{-1.5}, {.states = {values.data(), 2, 2}});
  const SeriesTransitions rows = transitions_of("test", set);
  EXPECT_EQ(rows.offsets, (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_EQ(rows.set.x(1, 1), 3);
  EXPECT_EQ(rows.set.x_next(1, 0), 4);
  EXPECT_EQ(rows.set.z(2, 0), -1.5);
  set.add(std::vector{0.0}, {.states = {values.data(), 1, 2}});
  EXPECT_THROW(transitions_of("test", set), InputError);
}

TEST(SeriesSimulation, RefusesWhatItCannotHold) {
  SimulationPlan plan;
  plan.budget = 5;
  EXPECT_THROW(simulate_series_set(tasks::make_task("gaussian_rw"), plan, {.transitions = 6, .from_initial = true},
                                   Parallel(1), silent_progress()),
               InputError);
  plan.budget = 100;
  plan.proposal = {{"proposal", "fixed"}};
  EXPECT_THROW(simulate_series_set(tasks::make_task("gaussian_rw"), plan, {.transitions = 6, .from_initial = true},
                                   Parallel(1), silent_progress()),
               InputError);
}

}  // namespace catena::simulate::series_simulation_test

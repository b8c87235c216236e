// References shown to be exact: simulation-based calibration of every task at T = 1, 10 and 100, and the time that a
// full reference takes. tools/reference-check runs this and prints its table.
//
// False alarms: each of the tasks × 3 tests compares the smallest of its p-values, times their number (Bonferroni),
// with 0.001 / (tasks × 3), so an exact sampler fails the suite once in a thousand seeds. The seed is fixed.

#include "evaluate/reference_calibration.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>

namespace catena::evaluate::reference_calibration_test {

constexpr double false_alarms = 0.001;

struct Case {
  twins::Twin twin;
  std::size_t transitions;
};

/// What ctest lists beside the name.
void PrintTo(const Case& one, std::ostream* out) { *out << one.twin.name << ", T = " << one.transitions; }

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const twins::Twin& twin : twins::all()) {
    for (const std::size_t transitions : {1, 10, 100}) result.push_back({twin, transitions});
  }
  return result;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return fmt::format("{}_T{}", info.param.twin.name, info.param.transitions);
}

class EveryReference : public ::testing::TestWithParam<Case> {};

TEST_P(EveryReference, RanksTheTruthUniformly) {
  const auto& [twin, transitions] = GetParam();
  const std::size_t series = transitions == 100 ? 100 : 300;
  const std::size_t bins = transitions == 100 ? 8 : 16;  // at least 12 expected in each
  const Calibration result = calibrate(twin, transitions, series, bins, /*seed=*/20240612, Parallel());
  const auto tests = static_cast<double>(result.p_values.size());
  std::string row = fmt::format("calibration | {:16} | T {:3} | {} series | refused {} |", twin.name, transitions,
                                series, result.refused);
  for (std::size_t i = 0; i < result.p_values.size(); ++i) {
    row += fmt::format(" {} {:.3f}", result.quantities[i], result.p_values[i]);
  }
  fmt::print("{}\n", row);
  EXPECT_GT(result.smallest_p() * tests, false_alarms / static_cast<double>(cases().size())) << row;
  // A reference that is refused is not used; but its truth was counted above, so few may be.
  EXPECT_LE(result.refused, series / 100);
}

TEST_P(EveryReference, IsHealthyAndTakesLessThanTwoMinutesOfTwoCores) {
  const auto& [twin, transitions] = GetParam();
  Stream stream = Streams(3).stream(twin.name, transitions);
  const twins::State theta = twins::prior_draw(twin, stream);
  const Matrix series = twins::series(twin, theta, transitions, stream);
  const auto likelihood = twin.likelihood(series);
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu_begin = std::clock();
  const Reference reference =
      sample_reference(*likelihood, twin.prior(), 1000, {}, Streams(4), Parallel(2), silent_progress());
  const double cpu = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  const sample::ChainHealth health = sample::worst(reference.health);
  fmt::print("time | {:16} | T {:3} | wall {:6.2f} s | cpu {:6.2f} s | R-hat {:.4f} | bulk {:.0f} | tail {:.0f} | {}\n",
             twin.name, transitions, wall.count(), cpu, health.r_hat, health.bulk_ess, health.tail_ess,
             name(reference.outcome));
  EXPECT_EQ(reference.outcome, Outcome::ok);
  // CPU time, because other work on the machine does not count: 2 cores × 120 s.
  EXPECT_LT(cpu, 240);
}

INSTANTIATE_TEST_SUITE_P(References, EveryReference, ::testing::ValuesIn(cases()), case_name);

}  // namespace catena::evaluate::reference_calibration_test

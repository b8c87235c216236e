#include "catena/simulate/paths.h"

#include <gtest/gtest.h>

#include <cmath>

namespace catena::simulate::paths_test {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

Matrix column(std::vector<double> values) {
  Matrix matrix(values.size(), 1);
  std::ranges::copy(values, matrix.values().begin());
  return matrix;
}

std::vector<Path> paths(const Matrix& states, std::span<const double> times, const KnownSteps& known,
                        const PathSettings& settings = {}) {
  const SeriesView view{states, times};
  return paths_of("test", {&view, 1}, states.cols(), known, settings);
}

std::string sentence(const Matrix& states, std::span<const double> times, const KnownSteps& known,
                     const PathSettings& settings = {}) {
  try {
    static_cast<void>(paths(states, times, known, settings));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Paths, GoOnWithTheNextStateThatIsThere) {
  const auto all = paths(column({1, missing, missing, 4, 5}), {}, {1, 5, true});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].steps, (std::vector<double>{3, 1}));
  EXPECT_EQ(all[0].times, (std::vector<double>{0, 3, 4}));
  EXPECT_EQ(all[0].states(1, 0), 4);
  EXPECT_TRUE(all[0].from_start);
}

TEST(Paths, RefuseAGapThatTheModelDoesNotKnow) {
  EXPECT_EQ(sentence(column({1, missing, missing, 4}), {}, {1, 2, true}),
            "test: the step from row 1 to row 4 of the series is 3, but must be what the model knows, 1 to 2; simulate "
            "with gaps up to it, or set cut_gaps");
}

TEST(Paths, BeginAnewAfterSuchAGapIfAskedTo) {
  const auto all = paths(column({missing, 1, 2, missing, 4, 5, 6}), {}, {}, {.cut_gaps = true});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].states.rows(), 2U);
  EXPECT_EQ(all[1].states.rows(), 3U);
  EXPECT_FALSE(all[0].from_start);  // x⁰ is missing
  EXPECT_FALSE(all[1].from_start);
  EXPECT_EQ(all[1].times.front(), 4);
}

TEST(Paths, TakeStepsFromTimesInTheirUnit) {
  const std::vector<double> times{0, 0.1, 0.30000001, 0.4};
  const auto all = paths(column({1, 2, 3, 4}), times, {1, 5, true}, {.step_length = 0.1});
  EXPECT_EQ(all[0].steps, (std::vector<double>{1, 2, 1}));
  EXPECT_EQ(sentence(column({1, 2, 3, 4}), times, {}),
            "test: the step from row 2 to row 3 of the series is 2, but must be what the model knows, 1; simulate with "
            "gaps up to it, or set cut_gaps");
  const std::vector<double> odd{0, 1, 2.5};
  EXPECT_EQ(
      sentence(column({1, 2, 3}), odd, {1, 5, true}),
      "test: the step from row 2 to row 3 of the series is 1.5, but must be a whole number of the simulator's steps "
      "(step_length)");
  EXPECT_EQ(paths(column({1, 2, 3}), odd, {0.1, 2, false})[0].steps, (std::vector<double>{1, 1.5}));
}

TEST(Paths, OfARegularGridInAnyUnitAreSingleSteps) {
  const std::vector<double> times{10, 10.25, 10.5};
  EXPECT_EQ(paths(column({1, 2, 3}), times, {})[0].steps, (std::vector<double>{1, 1}));
}

TEST(Paths, RefuseTimesThatDoNotRise) {
  const std::vector<double> times{0, 1, 1};
  EXPECT_EQ(sentence(column({1, 2, 3}), times, {}),
            "test: the time of row 3 of the series is 1, but must be later than 1, that of the row before");
}

TEST(Paths, DropStatesThatAreMissingInPartOnlyIfAskedTo) {
  Matrix states(4, 2);
  states(1, 0) = missing;
  EXPECT_EQ(
      sentence(states, {}, {1, 2, true}),
      "test: row 2 of the series is missing in 1 of 2 coordinates, but must be there or missing as a whole: "
      "a transition needs all coordinates of a state; fill in what is missing, or set partly_missing to drop what is "
      "there of it");
  EXPECT_EQ(paths(states, {}, {1, 2, true}, {.partly_missing = true})[0].steps, (std::vector<double>{2, 1}));
}

}  // namespace
}  // namespace catena::simulate::paths_test

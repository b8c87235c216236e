#include "catena/sample/judgement/residual_tests.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "catena/core/random.h"
#include "catena/prior/special.h"

namespace catena::sample::residual_tests_test {

const std::vector<std::string> names{"x", "y"};

std::vector<bool> one_series(std::size_t count) {
  std::vector<bool> follows(count, true);
  follows[0] = false;
  return follows;
}

/// Ranks of normal residuals r(t, i).
Matrix ranks(std::size_t count, const std::function<double(std::size_t, std::size_t)>& r) {
  Matrix u(count, 2);
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t i = 0; i < 2; ++i) u(t, i) = prior::normal_lower(r(t, i));
  }
  return u;
}

TEST(ResidualTests, OfSeriesThatTheModelMadeAtMostTheStatedShareHasSmallPValues) {
  // p below 1 % in at most 1 % of series; 2,000 of them, so that 36 would be 3.6 standard deviations above 20.
  int small = 0;
  for (std::size_t s = 0; s < 2000; ++s) {
    Stream stream = Streams(1).stream("series", s);
    const Matrix u = ranks(s % 2 == 0 ? 20 : 100, [&](std::size_t, std::size_t) { return stream.normal(); });
    small += test_ranks(u, one_series(u.rows()), names).p < 0.01 ? 1 : 0;
  }
  EXPECT_LE(small, 36);
}

TEST(ResidualTests, EveryMisfitIsNamedByWhatItIs) {
  Stream stream = Streams(2).stream("noise");
  const std::size_t count = 200;
  double before = 0;
  const auto found = [&](const std::function<double(std::size_t)>& second) {
    const Matrix u = ranks(count, [&](std::size_t t, std::size_t i) { return i == 0 ? stream.normal() : second(t); });
    const ResidualTest test = test_ranks(u, one_series(count), names);
    EXPECT_LT(test.p, 1e-3) << test.what;
    return test.what;
  };
  EXPECT_EQ(found([&](std::size_t) { return 1 + stream.normal(); }),
            "y lies above the middle of what the model foresees one step ahead, on average");
  EXPECT_EQ(found([&](std::size_t) { return 3 * stream.normal(); }),
            "y varies more from step to step than the model says");
  EXPECT_EQ(found([&](std::size_t) { return 0.1 * stream.normal(); }),
            "y varies less from step to step than the model says");
  EXPECT_EQ(found([&](std::size_t t) { return (t < count / 2 ? 0.8 : -0.8) + stream.normal(); }),
            "the model fits one half of the series and not the other, in y");
  EXPECT_EQ(found([&](std::size_t) { return before = -0.9 * before + 0.44 * stream.normal(); }),
            "residuals of y that follow each other are opposed");
}

TEST(ResidualTests, FewRecordsAreNotTested) {
  const Matrix u = ranks(fewest_residuals - 1, [](std::size_t, std::size_t) { return 5.0; });
  EXPECT_EQ(test_ranks(u, one_series(u.rows()), names).p, 1);
}

/// Scores of a normal mean: g = r, h = 1.
ResidualTest scores_of(std::size_t count, const std::function<double(std::size_t)>& r) {
  Matrix g(count, 1), h(count, 1);
  for (std::size_t t = 0; t < count; ++t) {
    g(t, 0) = r(t);
    h(t, 0) = 1;
  }
  return test_scores(g, h, one_series(count), {"drift"});
}

TEST(ResidualTests, ScoresOfSeriesThatTheModelMadeAreMartingaleDifferences) {
  int small = 0;
  for (std::size_t s = 0; s < 2000; ++s) {
    Stream stream = Streams(3).stream("series", s);
    small += scores_of(s % 2 == 0 ? 20 : 100, [&](std::size_t) { return stream.normal(); }).p < 0.01 ? 1 : 0;
  }
  EXPECT_LE(small, 36);
}

TEST(ResidualTests, ScoresThatContradictEachOtherAreNamed) {
  Stream stream = Streams(4).stream("noise");
  const auto halves = scores_of(200, [&](std::size_t t) { return (t < 100 ? 2 : -2) + 0.1 * stream.normal(); });
  EXPECT_LT(halves.p, 1e-3);
  const auto alternating = scores_of(200, [&](std::size_t t) { return (t % 2 == 0 ? 1 : -1) + 0.1 * stream.normal(); });
  EXPECT_LT(alternating.p, 1e-3);
  EXPECT_EQ(alternating.what, "what transitions that follow each other say about drift is opposed");
  const auto wild = scores_of(200, [&](std::size_t) { return 4 * stream.normal(); });
  EXPECT_LT(wild.p, 1e-3);
  EXPECT_EQ(wild.what, "transitions say more different things about drift than the learned model expects of them");
  const auto calm = scores_of(200, [&](std::size_t) { return 0.2 * stream.normal(); });
  EXPECT_LT(calm.p, 1e-3);
}

/// log w of records y ~ N(0, noise²) whose model says N(z, 1), at z = 0 against own parameters ±s.
Matrix own(std::size_t count, double noise, Stream stream) {
  Matrix log_w(count, 2);
  for (std::size_t t = 0; t < count; ++t) {
    const double y = noise * stream.normal();
    const auto quotient = [&](double s) { return -s * s / 2 + std::log(std::cosh(y * s)); };
    log_w(t, 0) = quotient(1), log_w(t, 1) = quotient(0.25);
  }
  return log_w;
}

TEST(ResidualTests, OwnParametersAreSeldomLikelierIfOneParameterMadeTheSeries) {
  // Ville's bound holds for any count. Of 2,000 series 36 are 3.6 standard deviations above the 20 of p < 0.01.
  int small = 0;
  for (std::size_t s = 0; s < 2000; ++s) {
    small += test_own_parameters(own(s % 2 == 0 ? 20 : 200, 1, Streams(5).stream("series", s))).p < 0.01 ? 1 : 0;
  }
  EXPECT_LE(small, 36);
}

TEST(ResidualTests, RecordsThatEachWantTheirOwnParametersAreNamed) {
  const ResidualTest test = test_own_parameters(own(100, 2, Streams(6).stream("noise")));
  EXPECT_LT(test.p, 1e-6);
  EXPECT_EQ(test.what, "no parameters explain all transitions: they are likelier if each has its own");
  EXPECT_EQ(test_own_parameters(own(fewest_residuals - 1, 9, Streams(6).stream("noise"))).p, 1);
  // One wild record decides nothing, nor does one of which nothing is known.
  Matrix wild = own(100, 1, Streams(7).stream("noise"));
  const double before = test_own_parameters(wild).p;
  wild(0, 0) = wild(0, 1) = 1e9;
  EXPECT_EQ(test_own_parameters(wild).p, before);
  wild(0, 0) = wild(0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(test_own_parameters(wild).p, before);
}

/// Scores of a right model at the truth, and at a z that a third of the records has pulled away.
TEST(ResidualTests, RecordsInsideAcceptTheTruthAndNotWhereOthersHavePulled) {
  constexpr std::size_t count = 90;
  std::vector<bool> outside(count, false);
  for (std::size_t t = 0; t < count; t += 3) outside[t] = true;
  const auto p_of = [&](double shift, std::size_t seed) {
    Stream stream = Streams(3).stream("scores", seed);
    Matrix g(count, 2), h(count, 2);
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t i = 0; i < 2; ++i) g(t, i) = stream.normal() - (i == 1 && !outside[t] ? shift : 0), h(t, i) = 1;
    }
    return test_inside(g, h, outside, names);
  };
  int small = 0;  // as above: 36 of 2,000 would be 3.6 standard deviations too many
  for (std::size_t s = 0; s < 2000; ++s) small += p_of(0, s).p < 0.01 ? 1 : 0;
  EXPECT_LE(small, 36);
  const ResidualTest pulled = p_of(0.7, 1);
  EXPECT_LT(pulled.p, 1e-3);
  EXPECT_EQ(pulled.what, "y");
  outside.assign(count, true);
  EXPECT_EQ(p_of(5, 1).p, 1);  // too few records inside
}

}  // namespace catena::sample::residual_tests_test

#include "catena/model/features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "train/train_cases.h"

namespace catena::model::features_test {
namespace {

TEST(Features, HaveMeanZeroAndDeviationOneOverTheTrainingSet) {
  const simulate::TransitionSet set = train::transitions_of("ti_gaussian_rw", 2000, {{"dim", 2}});
  const Features features(set);
  ASSERT_EQ(features.size(), 5U);  // two states, two increments, the time
  ASSERT_TRUE(features.uses_time());
  std::vector<double> sum(5), squares(5);
  std::vector<float> c(5);
  for (std::size_t r = 0; r < set.size(); ++r) {
    features.apply(set.record(r), c);
    for (std::size_t i = 0; i < 5; ++i) {
      sum[i] += c[i];
      squares[i] += static_cast<double>(c[i]) * c[i];
    }
    EXPECT_EQ(features.excess(set.record(r)), 0);
  }
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(sum[i] / 2000, 0, 1e-4);
    EXPECT_NEAR(squares[i] / 2000, 1, 2e-3);
  }
}

TEST(Features, SayHowFarOutsideTheTrainingRangeATransitionLies) {
  const simulate::TransitionSet set = train::transitions_of("gaussian_rw", 1000, {{"dim", 1}});
  const Features features(set);
  const Feature& state = features.all()[0];
  const std::vector<double> x{state.high + 2.5 * state.scale}, next{x[0] + features.all()[1].mean};
  EXPECT_NEAR(features.excess({x, next}), 2.5, 1e-9);
}

TEST(Features, LeaveACoordinateThatNeverVariesAtItsOwnScale) {
  simulate::TransitionSet set = train::transitions_of("gaussian_rw", 100, {{"dim", 2}});
  for (std::size_t r = 0; r < set.size(); ++r) set.x(r, 1) = 4;
  EXPECT_EQ(Features(set).all()[1].scale, 1);
}

TEST(Features, OfALongerRecordAreTheLatestStateAndDifferences) {
  simulate::TransitionSet set;
  set.state_names = {"a"};
  set.x = Matrix(3, 2);       // x^t, x^(t−1)
  set.x_next = Matrix(3, 3);  // x^(t+1), x^(t+2), x^(t+3)
  set.step = set.time = Matrix(3, 1);
  for (std::size_t r = 0; r < 3; ++r) {
    const auto v = static_cast<double>(r);
    set.x(r, 0) = v, set.x(r, 1) = -v;
    set.x_next(r, 0) = 3 * v, set.x_next(r, 1) = 6 * v, set.x_next(r, 2) = 10 * v;
    set.time(r, 0) = v, set.step(r, 0) = std::exp(5 * v);
  }
  const Features features(set);
  ASSERT_EQ(features.size(), 7U);
  EXPECT_EQ(features.condition(), 2U);
  EXPECT_EQ(features.target(), 3U);
  EXPECT_EQ(features.known(), 4U);
  EXPECT_EQ(features.known(2), 5U);                       // the time, after condition and target
  const std::vector<double> slopes{1, 2, 2, 3, 4, 1, 5};  // of each feature in v
  for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(features.all()[i].high, 2 * slopes[i], 1e-12);
  EXPECT_EQ(Features::from_json("test", features.to_json()).shape(), features.shape());
}

TEST(Features, SeeCovariatesStandardisedAndKnowTheirRange) {
  simulate::TransitionSet set = train::transitions_of("driven_ar", 2000, nlohmann::json::object());
  const Features features(set);
  ASSERT_EQ(features.size(), 3U);  // the state, its increment, the covariate
  EXPECT_EQ(features.known(), 2U);
  EXPECT_EQ(features.known(1), 2U);
  double sum = 0, squares = 0;
  std::vector<float> c(3);
  for (std::size_t r = 0; r < set.size(); ++r) {
    features.apply(set.record(r), c);
    EXPECT_NEAR(features.all()[2].mean + features.all()[2].scale * c[2], set.u(r, 0), 1e-5);
    sum += c[2];
    squares += static_cast<double>(c[2]) * c[2];
  }
  EXPECT_NEAR(sum / 2000, 0, 1e-4);
  EXPECT_NEAR(squares / 2000, 1, 2e-3);
  const std::vector<double> x{features.all()[0].mean}, next{x[0] + features.all()[1].mean};
  const std::vector<double> far{features.all()[2].high + 2.5 * features.all()[2].scale};
  EXPECT_NEAR(features.excess({x, next, 0, 1, far}), 2.5, 1e-9);
  const Features read = Features::from_json("test", features.to_json());
  EXPECT_EQ(read.shape(), features.shape());
  EXPECT_EQ(read.all()[2].scale, features.all()[2].scale);
  for (std::size_t r = 0; r < set.size(); ++r) set.u(r, 0) = 3;  // one that never varies does no harm
  EXPECT_EQ(Features(set).all()[2].scale, 1);
}

TEST(Features, SeeTimeByTheSinesAndCosinesOfItsPeriods) {
  const simulate::TransitionSet set = train::transitions_of("ti_gaussian_rw", 500, {{"dim", 2}});
  const Features features(set, {}, {12, 7.5});
  ASSERT_EQ(features.size(), 9U);  // two states, two increments, the time, two waves
  EXPECT_EQ(features.known(), 7U);
  std::vector<float> c(9);
  const std::vector<double> x{1, 2};
  features.apply({x, x, 3.0}, c);
  const double angle = 2 * 3.14159265358979323846 * 3;
  const double waves[] = {std::sin(angle / 12), std::cos(angle / 12), std::sin(angle / 7.5), std::cos(angle / 7.5)};
  for (std::size_t i = 0; i < 4; ++i) {
    const Feature& feature = features.all()[5 + i];
    EXPECT_NEAR(feature.mean + feature.scale * c[5 + i], waves[i], 1e-6);
  }
  const Features copy = Features::from_json("test", nlohmann::json::parse(features.to_json().dump()));
  EXPECT_EQ(copy.periods(), features.periods());
  EXPECT_TRUE(copy.uses_time());
  EXPECT_EQ(copy.size(), 9U);
  EXPECT_EQ(Features(set).to_json().count("periods"), 0U);  // files without a season are as they were
  nlohmann::json wrong = features.to_json();
  wrong["periods"] = {12, -1};
  EXPECT_THROW(Features::from_json("test", wrong), FileError);
}

/// log x stands in place of x, before and after, and x itself is known beside it.
TEST(Features, SeeLogarithms) {
  simulate::TransitionSet set = train::two_state_set(3);
  for (std::size_t r = 0; r < 3; ++r) {
    const auto v = static_cast<double>(r);
    set.x(r, 0) = v, set.x_next(r, 0) = 3 * v;
    set.x(r, 1) = std::exp(v), set.x_next(r, 1) = std::exp(5 * v);
  }
  const Features features(set, {1});
  EXPECT_FALSE(features.logarithmic(0) || features.logarithmic(2));
  EXPECT_TRUE(features.logarithmic(1) && features.logarithmic(3));
  const std::vector<double> slopes{1, 1, 2, 4};  // of each feature in v
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(features.all()[i].high, 2 * slopes[i], 1e-12);
  EXPECT_EQ(&features.plain(0), &features.all()[0]);
  EXPECT_NEAR(features.plain(1).high, std::exp(2), 1e-12);

  const Features back = Features::from_json("test", features.to_json());
  EXPECT_EQ(back.logarithmic(), features.logarithmic());
  EXPECT_EQ(back.plain(1).mean, features.plain(1).mean);
  nlohmann::json wrong = features.to_json();
  wrong["logarithmic"]["of"] = {2};
  EXPECT_THROW(Features::from_json("test", wrong), FileError);
  wrong["logarithmic"] = {{"of", {1}}};
  EXPECT_THROW(Features::from_json("test", wrong), FileError);

  EXPECT_NO_THROW(features.check_positive("test", {"a", "b"}, std::vector<double>{-1, 1}));
  EXPECT_THROW(features.check_positive("test", {"a", "b"}, std::vector<double>{1, 0}), InputError);
}

TEST(Features, SurviveJson) {
  const Features features(train::transitions_of("gaussian_rw", 100, {{"dim", 2}}));
  const Features back = Features::from_json("test", features.to_json());
  ASSERT_EQ(back.size(), features.size());
  for (std::size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back.all()[i].mean, features.all()[i].mean);
    EXPECT_EQ(back.all()[i].scale, features.all()[i].scale);
    EXPECT_EQ(back.all()[i].low, features.all()[i].low);
    EXPECT_EQ(back.all()[i].high, features.all()[i].high);
  }
}

TEST(Features, RefuseJsonOfAnotherShape) {
  const nlohmann::json good = Features(train::transitions_of("gaussian_rw", 100, {{"dim", 2}})).to_json();
  for (const auto& [key, value] : std::map<std::string, nlohmann::json>{{"states", -1},
                                                                        {"states", 7},
                                                                        {"mean", "text"},
                                                                        {"scale", {1, 1, 1}},
                                                                        {"scale", {1, 1, 0, 1}},
                                                                        {"low", {}}}) {
    nlohmann::json bad = good;
    bad[key] = value;
    EXPECT_THROW(Features::from_json("test", bad), FileError) << bad.dump();
  }
  EXPECT_THROW(Features::from_json("test", nlohmann::json()), FileError);
}

}  // namespace
}  // namespace catena::model::features_test

#include "catena/train/features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "train/train_cases.h"

namespace catena::train {
namespace {

TEST(Features, HaveMeanZeroAndDeviationOneOverTheTrainingSet) {
  const simulate::TransitionSet set = transitions_of("ti_gaussian_rw", 2000, {{"dim", 2}});
  const Features features(set);
  ASSERT_EQ(features.size(), 5U);  // two states, two increments, the time
  ASSERT_TRUE(features.uses_time());
  std::vector<double> sum(5), squares(5);
  std::vector<float> c(5);
  for (std::size_t r = 0; r < set.size(); ++r) {
    features.apply(set.x.row(r), set.x_next.row(r), set.time(r, 0), c);
    for (std::size_t i = 0; i < 5; ++i) {
      sum[i] += c[i];
      squares[i] += static_cast<double>(c[i]) * c[i];
    }
    EXPECT_EQ(features.excess(set.x.row(r), set.x_next.row(r), set.time(r, 0)), 0);
  }
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(sum[i] / 2000, 0, 1e-4);
    EXPECT_NEAR(squares[i] / 2000, 1, 2e-3);
  }
}

TEST(Features, SayHowFarOutsideTheTrainingRangeATransitionLies) {
  const simulate::TransitionSet set = transitions_of("gaussian_rw", 1000, {{"dim", 1}});
  const Features features(set);
  const Feature& state = features.all()[0];
  const std::vector<double> x{state.high + 2.5 * state.scale}, next{x[0] + features.all()[1].mean};
  EXPECT_NEAR(features.excess(x, next, 0), 2.5, 1e-9);
}

TEST(Features, LeaveACoordinateThatNeverVariesAtItsOwnScale) {
  simulate::TransitionSet set = transitions_of("gaussian_rw", 100, {{"dim", 2}});
  for (std::size_t r = 0; r < set.size(); ++r) set.x(r, 1) = 4;
  EXPECT_EQ(Features(set).all()[1].scale, 1);
}

TEST(Features, SurviveJson) {
  const Features features(transitions_of("gaussian_rw", 100, {{"dim", 2}}));
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
  const nlohmann::json good = Features(transitions_of("gaussian_rw", 100, {{"dim", 2}})).to_json();
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
}  // namespace catena::train

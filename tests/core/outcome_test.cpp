#include "catena/core/outcome.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace catena::outcome_test {

TEST(Outcome, EveryValueHasANameOfItsOwnAndEveryFailureAdvice) {
  std::set<std::string_view> names;
  // Walks the values until the first that name() does not know, so that a new one cannot be forgotten here.
  int count = 0;
  for (; name(static_cast<Outcome>(count)) != "unknown"; ++count) {
    const auto outcome = static_cast<Outcome>(count);
    EXPECT_FALSE(name(outcome).empty());
    EXPECT_EQ(outcome_named(name(outcome)), outcome);
    EXPECT_TRUE(names.insert(name(outcome)).second) << name(outcome);
    EXPECT_EQ(advice(outcome, "sample").empty(), outcome == Outcome::ok) << name(outcome);
    EXPECT_EQ(advice(outcome, "sample").find('\n'), std::string_view::npos);
  }
  EXPECT_EQ(count, static_cast<int>(Outcome::longer_than_trained) + 1)
      << "longer_than_trained is the last value of the enum";
  EXPECT_EQ(outcome_named("time limit"), std::nullopt);
  EXPECT_EQ(name(Outcome::ok), "ok");
  EXPECT_EQ(name(Outcome::not_positive_definite), "not_positive_definite");
}

TEST(Outcome, AdviceIsForWhoAsksForIt) {
  EXPECT_NE(advice(Outcome::diverged, "catena train").find("learning rate"), std::string_view::npos);
  EXPECT_EQ(advice(Outcome::diverged, "catena sample").find("learning rate"), std::string_view::npos);
  EXPECT_EQ(advice(Outcome::time_limit, "reference").find("--resume"), std::string_view::npos);
}

}  // namespace catena::outcome_test

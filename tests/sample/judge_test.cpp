#include "catena/sample/judgement/judge.h"

#include <gtest/gtest.h>

#include <cmath>

namespace catena::sample::judge_test {

TEST(PosteriorDraws, TakeTheOutcomeOfTheirFirstFindingUnlessTheSamplerFailed) {
  PosteriorDraws draws;
  draws.add_findings({{Outcome::misfit, "it does not fit"}, {Outcome::long_for_budget, "it is long"}});
  EXPECT_EQ(draws.outcome, Outcome::misfit);
  EXPECT_EQ(draws.info["outcome"], "misfit");
  ASSERT_EQ(draws.info["findings"].size(), 2U);
  EXPECT_EQ(draws.info["findings"][1]["sentence"], "it is long");
  PosteriorDraws failed;
  failed.outcome = Outcome::not_mixed;
  failed.add_findings({{Outcome::misfit, "it does not fit"}});
  EXPECT_EQ(failed.outcome, Outcome::not_mixed);
}

TEST(PosteriorDraws, AreRefusedIfNoneIsFiniteOrTheyAreWorthTooFew) {
  PosteriorDraws draws;
  draws.theta = Matrix(2, 1);
  draws.theta(0, 0) = std::nan("");
  EXPECT_EQ(draws.refusal(), "");
  draws.theta(1, 0) = std::nan("");
  EXPECT_EQ(draws.refusal(), "none of 2 draws is finite");
  draws.theta(1, 0) = 1;
  draws.add_findings({{Outcome::too_few_effective, "two draws are worth one"}});
  EXPECT_EQ(draws.refusal(), "two draws are worth one");
}

}  // namespace catena::sample::judge_test

#include "catena/sample/judgement/judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "catena/sample/correct/correct.h"
#include "train/exact_density.h"

namespace catena::sample::judge_test {
namespace {

bool says(const PosteriorDraws& draws, Outcome outcome) {
  return std::ranges::find(draws.findings, outcome, &DrawFinding::outcome) != draws.findings.end();
}

const model::TrainedModel& exact_model() {
  static const model::TrainedModel model = train::testing::exact_gaussian_rw(2);
  return model;
}

const tasks::Task& exact_task() {
  static const tasks::Task task = tasks::gaussian_rw::make({.dim = 2});
  return task;
}

/// x' = 0.9 x + θ + ε with noise of so many times its deviation.
Matrix noisy_series(std::size_t transitions, double times, std::uint64_t seed) {
  Stream stream = Streams(seed).stream("series");
  Matrix series(transitions + 1, 2);
  for (std::size_t t = 0; t < transitions; ++t) {
    for (std::size_t i = 0; i < 2; ++i) series(t + 1, i) = 0.9 * series(t, i) + 0.4 + times * stream.normal();
  }
  return series;
}

PosteriorDraws judged(const Matrix& series, const Judgement& how, std::uint64_t seed) {
  const PosteriorRequest request{.model = exact_model(), .series = {{series}}, .draws = 100};
  PosteriorDraws draws = draw_posterior(request, Streams(seed), Parallel(1));
  judge_draws(request, draws, Streams(seed).child("judgement"), Parallel(1), how);
  return draws;
}

}  // namespace

// 300 series of an exact model, half of 20 and half of 100 transitions. At the stated rate of 0.01 more than 9 are
// called so in one of 900 seeds, for either way to judge; the seeds are fixed.
TEST(Judgement, CallsSeriesOfTheModelItselfAMisfitAtMostAtItsStatedRate) {
  constexpr std::size_t count = 300;
  std::vector<int> learned(count), simulated(count);
  Parallel(2).for_each(count, [&](std::size_t s) {
    const Matrix series = train::testing::gaussian_rw_series(2, s % 2 == 0 ? 20 : 100, 1000 + s);
    const PosteriorRequest request{.model = exact_model(), .series = {{series}}, .draws = 100};
    PosteriorDraws draws = draw_posterior(request, Streams(s), Parallel(1)), other = draws;
    judge_draws(request, draws, Streams(s).child("judgement"), Parallel(1));
    learned[s] = says(draws, Outcome::misfit) ? 1 : 0;
    judge_draws(request, other, Streams(s).child("judgement"), Parallel(1),
                {.simulator = {&exact_task()}, .corrected = 1e6});
    simulated[s] = says(other, Outcome::misfit) ? 1 : 0;
  });
  EXPECT_LE(std::ranges::count(learned, 1), 9);
  EXPECT_LE(std::ranges::count(simulated, 1), 9);
}

TEST(Judgement, BySimulatorSeesNoiseThatTheSimulatorDoesNotHave) {
  for (const double times : {3.0, 0.3}) {
    const PosteriorDraws draws =
        judged(noisy_series(60, times, 1), {.simulator = {&exact_task()}, .corrected = 1e6}, 1);
    ASSERT_EQ(draws.findings.size(), 1U) << times;
    EXPECT_EQ(draws.findings[0].outcome, Outcome::misfit);
    EXPECT_NE(draws.findings[0].sentence.find(times > 1 ? "varies more from step to step than the simulator says"
                                                        : "varies less from step to step than the simulator says"),
              std::string::npos)
        << draws.findings[0].sentence;
    EXPECT_EQ(draws.info["misfit"]["simulated"], 3 * 60 * 38);
  }
}

/// Five leaps of 40 among 60 steps that say 0.4: the posterior's drift is that of the leaps.
TEST(Judgement, FewTransitionsOutsideTheTrainingRangeMustNotDecide) {
  const Matrix calm = noisy_series(65, 1, 3);
  Matrix leaping = calm;
  for (std::size_t t = 0; t < 65; ++t) leaping(t + 1, 1) += 0.9 * (leaping(t, 1) - calm(t, 1)) + (t % 13 == 6 ? 40 : 0);
  EXPECT_FALSE(says(judged(calm, {}, 1), Outcome::outside_training));
  const PosteriorDraws draws = judged(leaping, {}, 1);
  ASSERT_TRUE(says(draws, Outcome::outside_training));
  EXPECT_LT(draws.observed.outside, 32U);
  const auto found = std::ranges::find(draws.findings, Outcome::outside_training, &DrawFinding::outcome);
  EXPECT_NE(found->sentence.find("pull theta_2 away from what the others say"), std::string::npos) << found->sentence;
}

TEST(Judgement, BySimulatorKeepsToItsSteps) {
  const RankPlan whole = rank_plan(0, 1000, 1);
  EXPECT_EQ(whole.records, 600U);
  EXPECT_EQ(whole.draws, 3U);
  EXPECT_EQ(whole.simulations, 38U);
  for (const std::uint64_t steps : {500U, 1000U, 5000U, 20'000U, 1'000'000U}) {
    for (const std::size_t records : {30U, 100U, 1000U}) {
      const RankPlan plan = rank_plan(steps, records, 2);
      EXPECT_LE(2 * plan.records * plan.draws * plan.simulations, steps);
      EXPECT_GE(plan.simulations, 10U);
      EXPECT_EQ(plan.simulations % 2, 0U);
      EXPECT_GE(plan.records, std::min<std::size_t>({records, 600, steps / 20})) << steps << " " << records;
    }
  }
  EXPECT_EQ(rank_plan(10, 100, 2).records, 0U);
}

TEST(Judgement, OfACheckAndOfACorrectionIsAmongTheirFindings) {
  const Matrix wild = noisy_series(100, 3, 2), fitting = noisy_series(100, 1, 2);
  for (const Matrix* series : {&wild, &fitting}) {
    CorrectionRequest request{.posterior = {.model = exact_model(), .series = {{*series}}, .draws = 200},
                              .simulator = exact_task()};
    request.settings.budget = 10'000;
    const Check check = check_posterior(request, Streams(1), Parallel(2));
    const Correction correction = correct_posterior(request, Streams(1), Parallel(2));
    const bool wrong = series == &wild;
    EXPECT_EQ(says(check.learned, Outcome::misfit), wrong);
    EXPECT_EQ(says(correction.corrected, Outcome::misfit), wrong);
    EXPECT_EQ(check.info["outcome"], wrong ? "misfit" : "ok");
    EXPECT_EQ(correction.info["outcome"], wrong ? "misfit" : "ok");
    EXPECT_LE(check.info["spent"].get<std::uint64_t>(), 10'000U);
    EXPECT_LE(correction.info["spent"].get<std::uint64_t>(), 10'000U);
  }
}

// The same seed gives the same judgement for any number of threads.
TEST(Judgement, DoesNotDependOnTheNumberOfThreads) {
  const Matrix series = noisy_series(100, 1, 3);
  const PosteriorRequest request{.model = exact_model(), .series = {{series}}, .draws = 100};
  const PosteriorDraws drawn = draw_posterior(request, Streams(1), Parallel(1));
  PosteriorDraws one = drawn, two = drawn;
  judge_draws(request, one, Streams(2), Parallel(1), {.simulator = {&exact_task()}});
  judge_draws(request, two, Streams(2), Parallel(2), {.simulator = {&exact_task()}});
  EXPECT_EQ(one.info["misfit"], two.info["misfit"]);
}

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

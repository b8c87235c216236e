// Seasons: which period the data speak of, and that networks see it.
#include "catena/train/choose/season.h"

#include <gtest/gtest.h>

#include "catena/core/errors.h"
#include "train/train_cases.h"

namespace catena::train::choose_season_test {
namespace {

const nlohmann::json no_options = nlohmann::json::object();

std::optional<double> found_in(const std::string& task, const nlohmann::json& options, std::size_t budget) {
  return likely_period(TrainingData(transitions_of(task, budget, options), Split{}));
}

TEST(LikelyPeriod, IsThatOfTheSimulator) {
  EXPECT_EQ(found_in("seasonal_ar", no_options, 2000), 12.0);
  EXPECT_EQ(found_in("seasonal_ar", {{"period", 30}}, 2000), 30.0);
  // 7.3 days, seen at whole ones over a hundred of them: as well as 2,000 transitions can tell.
  EXPECT_NEAR(found_in("seasonal_ar", {{"period", 7.3}}, 2000).value_or(0), 7.3, 0.05);
}

/// A factor 1 + 1/(t + 1), which is no season, and no time at all.
TEST(LikelyPeriod, IsNoneWhereNothingComesRound) {
  EXPECT_EQ(found_in("ti_gaussian_rw", {{"dim", 2}, {"proposal_sd", 1.0}}, 2000), std::nullopt);
  EXPECT_EQ(found_in("gaussian_rw", {{"dim", 2}}, 2000), std::nullopt);
}

TEST(ChooseSeason, IsDecidedByTheHeldOutLossAndSeenByEveryMethod) {
  const simulate::TransitionSet set = transitions_of("seasonal_ar", 2000, no_options);
  const model::TrainedModel model = train_briefly("fnle", set, {{"density", "gaussian"}, {"decay", 0.5}}, 300, 200);
  EXPECT_EQ(model.settings["period"], "12") << model.notes.dump();
  EXPECT_EQ(model.features.periods(), std::vector<double>{12});
  EXPECT_EQ(model.notes["period"]["12"].size(), 3U);
  for (const char* method : {"fnre", "fnse", "fnbe"}) {
    const model::TrainedModel given = train_briefly(method, set, {{"period", "12,7.5"}}, 20, 100);
    EXPECT_EQ(given.settings["period"], "12,7.5") << method;
    EXPECT_EQ(given.features.periods(), (std::vector<double>{12, 7.5})) << method;
  }
  const model::TrainedModel none = train_briefly("fnle", set, {{"period", "none"}, {"density", "gaussian"}}, 20, 100);
  EXPECT_TRUE(none.features.periods().empty());
  EXPECT_FALSE(none.notes.contains("period"));
}

TEST(ChooseSeason, MisuseIsOneSentence) {
  const auto message = [](const std::string& task, const nlohmann::json& period) -> std::string {
    try {
      train_briefly("fnle", transitions_of(task, 100, no_options), {{"period", period}, {"density", "gaussian"}}, 5,
                    50);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  for (const nlohmann::json& wrong : {nlohmann::json("yearly"), nlohmann::json("12,"), nlohmann::json(-3)}) {
    EXPECT_TRUE(message("seasonal_ar", wrong).ends_with("but must be auto, none, or positive numbers with commas"))
        << message("seasonal_ar", wrong);
  }
  EXPECT_EQ(message("gaussian_rw", 12).substr(0, 62), "train: period is 12, but must be none: the transitions have no");
  EXPECT_EQ(message("gaussian_rw", "none"), "");
}

}  // namespace
}  // namespace catena::train::choose_season_test

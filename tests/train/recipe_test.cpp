#include "catena/train/recipe.h"

#include <gtest/gtest.h>

#include "catena/model/preset.h"

namespace catena::train::recipe_test {
namespace {

Recipe recipe(const char* method, const char* named, std::size_t transitions = 9000) {
  return recipe_of("train", methods().at("test", method), nlohmann::json::parse(named), transitions);
}

std::string refusal(const char* method, const char* named) {
  try {
    static_cast<void>(recipe(method, named));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(Recipe, PartsTheLoopsSettingsFromTheMethods) {
  const Recipe found = recipe("fnle", R"({"steps": 10, "density": "gaussian"})");
  EXPECT_EQ(found.loop.steps, 10);
  EXPECT_EQ(found.settings, nlohmann::json::parse(R"({"density": "gaussian"})"));
  EXPECT_EQ(found.preset, "");
}

TEST(Recipe, RefusesWhatIsNamedInVain) {
  EXPECT_EQ(refusal("fnle", R"({"density": "gaussian", "bins": 12})"),
            "train: bins is 12, but density = gaussian does not use it (nsf does)");
  EXPECT_EQ(refusal("fnbe", R"({"density": "maf", "width": 12})"),
            "train: width is 12, but density = maf does not use it (gaussian, separable, mixture do)");
  EXPECT_EQ(refusal("fnse", R"({"smallest_eta": 0.1})"),
            "train: smallest_eta is 0.1, but levels = uniform does not use it (log does)");
  EXPECT_EQ(refusal("fnse", R"({"network": "joint", "terms": 8})"),
            "train: terms is 8, but network = joint does not use it (separable does)");
  EXPECT_EQ(refusal("fnre", R"({"gamma": 2})"), "train: gamma is 2, but loss = auto does not use it (nre_c does)");
  EXPECT_EQ(refusal("fnre", R"({"network": "gaussian", "squares": 2})"),
            "train: squares is 2, but network = gaussian does not use it (separable does)");
  EXPECT_EQ(refusal("fnle", R"({"weight_decay": 0.1})"),
            "train: weight_decay is 0.1, but the method fnle does not use it (decay takes its place)");
  EXPECT_EQ(refusal("fnse", R"({"decay": 0.1, "terms": 8})"), "");
}

TEST(Recipe, LetsWhatIsNamedWinOverThePreset) {
  const Recipe paper = recipe("fnse", R"({"preset": "paper"})");
  EXPECT_EQ(paper.preset, "paper");
  EXPECT_EQ(paper.settings["network"], "joint");
  EXPECT_EQ(paper.loop.steps, 5000 * 9);  // epochs of 9 batches of 1,000
  EXPECT_EQ(paper.loop.optimizer.learning_rate, 5e-4);
  // A share of 0.1 and at most 10,000 as usual; the paper's FNSE holds out 1,000, unless a share is named.
  const auto split = [](const char* method, const char* named, std::optional<double> held_out = std::nullopt) {
    return split_of("train", methods().at("train", method), nlohmann::json::parse(named), held_out);
  };
  EXPECT_EQ(split("fnse", R"({"preset": "paper"})").most, 1000U);
  EXPECT_EQ(split("fnse", R"({"preset": "paper"})", 0.2).most, Split{}.most);
  EXPECT_EQ(split("fnse", R"({"preset": "paper"})", 0.2).held_out, 0.2);
  EXPECT_EQ(split("fnle", R"({"preset": "paper"})").most, Split{}.most);
  EXPECT_EQ(split("fnse", "{}").most, Split{}.most);

  const Recipe mine = recipe("fnse", R"({"preset": "paper", "network": "separable", "terms": 8, "steps": 7})");
  EXPECT_EQ(mine.settings["network"], "separable");
  EXPECT_EQ(mine.loop.steps, 7);
  EXPECT_EQ(refusal("fnse", R"({"preset": "paper", "terms": 8})"),
            "train: terms is 8, but network = joint does not use it (separable does)");
}

TEST(Recipe, HasNoPresetForAMethodThatIsNotInThePaper) {
  EXPECT_EQ(refusal("fnbe", R"({"preset": "paper"})"),
            "train: preset is paper, but fnbe is no method of it (fnse, fnle, fnre, npe, npe_windows, npe_summary, "
            "nle_summary, nse are)");
  EXPECT_EQ(refusal("fnle", R"({"preset": "mine"})"), "train: preset is \"mine\", but must be one of paper");
}

/// Every preset is made of settings that exist, and of none that it makes no use of itself.
TEST(EveryPreset, HasSettingsThatItsMethodUses) {
  for (const model::Preset& preset : model::presets()) {
    nlohmann::json named = preset.train;
    named.erase("epochs");
    const Method& method = methods().at("test", preset.method);
    Recipe recipe;
    EXPECT_NO_THROW(recipe = recipe_of("train", method, named, 9000)) << preset.method;
    for (const auto& [name, value] : recipe.settings.items()) {
      const auto& fields = method.settings;
      EXPECT_NE(std::ranges::find(fields, name, &FieldInfo::name), fields.end()) << name;
    }
  }
}

}  // namespace catena::train::recipe_test

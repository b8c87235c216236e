#include "catena/core/config.h"

#include <gtest/gtest.h>

namespace catena::config_test {

namespace {

/// One field of each kind and one of each condition.
struct Settings {
  bool shuffle = true;
  int batch_size = 1000;
  std::uint64_t seed = 0;
  double learning_rate = 5e-4;
  double decay = 0;
  double share = 0.5;
  std::string schedule = "cosine";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.shuffle, "shuffle", "draw transitions in random order", anything());
    visit(c.batch_size, "batch_size", "transitions per gradient step", at_least(1));
    visit(c.seed, "seed", "root of all randomness", anything());
    visit(c.learning_rate, "learning_rate", "largest step", positive());
    visit(c.decay, "decay", "weight decay", not_negative());
    visit(c.share, "share", "share held out", between(0.0, 1.0));
    visit(c.schedule, "schedule", "shape of the learning rate", one_of({"cosine", "constant"}));
  }
};
static_assert(Config<Settings>);

/// The sentence that from_json answers with, or nothing.
std::string refusal(const std::string& text) {
  try {
    from_json<Settings>("train", nlohmann::json::parse(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(Config, SurvivesTheWayToJsonAndBack) {
  Settings settings;
  settings.shuffle = false;
  settings.batch_size = 7;
  settings.seed = 18446744073709551615U;
  settings.learning_rate = 0.1;
  settings.schedule = "constant";
  const nlohmann::json json = to_json(settings);
  const auto again = from_json<Settings>("train", nlohmann::json::parse(json.dump()));
  EXPECT_EQ(to_json(again), json);
  EXPECT_EQ(again.seed, settings.seed);
  EXPECT_EQ(again.learning_rate, settings.learning_rate);
}

TEST(Config, LeavesWhatIsNotNamedAtItsDefault) {
  const auto settings = from_json<Settings>("train", nlohmann::json::parse(R"({"batch_size": 10})"));
  EXPECT_EQ(settings.batch_size, 10);
  EXPECT_EQ(settings.learning_rate, 5e-4);
  EXPECT_EQ(settings.schedule, "cosine");
}

TEST(Config, TakesAWholeNumberForADoubleAndASignedOneForAnUnsigned) {
  EXPECT_EQ(from_json<Settings>("train", {{"learning_rate", 1}}).learning_rate, 1.0);
  EXPECT_EQ(from_json<Settings>("train", {{"seed", 5}}).seed, 5U);  // a C++ int becomes a signed JSON number
}

TEST(Config, RefusesSettingsThatNoFieldHas) {
  EXPECT_EQ(
      refusal(R"({"batchsize": 10})"),
      "train: setting is \"batchsize\", but must be one of shuffle, batch_size, seed, learning_rate, decay, share, "
      "schedule");
}

TEST(Config, RefusesValuesOfTheWrongType) {
  EXPECT_EQ(refusal(R"({"shuffle": 1})"), "train: shuffle is 1, but must be true or false");
  EXPECT_EQ(refusal(R"({"batch_size": 1.5})"),
            "train: batch_size is 1.5, but must be a whole number between -2147483648 and 2147483647");
  EXPECT_EQ(refusal(R"({"batch_size": true})"),
            "train: batch_size is true, but must be a whole number between -2147483648 and 2147483647");
  EXPECT_EQ(refusal(R"({"learning_rate": "fast"})"), "train: learning_rate is \"fast\", but must be a number");
  EXPECT_EQ(refusal(R"({"learning_rate": null})"), "train: learning_rate is null, but must be a number");
  EXPECT_EQ(refusal(R"({"schedule": 3})"), "train: schedule is 3, but must be a text");
  EXPECT_EQ(refusal("[1, 2]"), "train: the configuration is array, but must be a JSON object");
}

TEST(Config, RefusesWholeNumbersThatDoNotFit) {
  EXPECT_EQ(refusal(R"({"batch_size": 4294967297})"),
            "train: batch_size is 4294967297, but must be a whole number between -2147483648 and 2147483647");
  EXPECT_EQ(refusal(R"({"seed": -1})"),
            "train: seed is -1, but must be a whole number between 0 and 18446744073709551615");
}

TEST(Config, RefusesValuesOutOfBounds) {
  EXPECT_EQ(refusal(R"({"batch_size": 0})"), "train: batch_size is 0, but must be at least 1");
  EXPECT_EQ(refusal(R"({"learning_rate": 0})"), "train: learning_rate is 0, but must be positive and finite");
  EXPECT_EQ(refusal(R"({"decay": -1e-9})"), "train: decay is -1e-09, but must be zero or more, and finite");
  EXPECT_EQ(refusal(R"({"share": 1.25})"), "train: share is 1.25, but must be between 0 and 1");
  EXPECT_EQ(refusal(R"({"schedule": "square"})"), "train: schedule is square, but must be one of cosine, constant");
  EXPECT_EQ(refusal(R"({"share": 1, "decay": 0, "batch_size": 1})"), "");
}

TEST(Config, KeepsTheSentenceShortWhateverStandsInTheFile) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_EQ(refusal(R"({"share": )" + deep + "}"), "train: share is a list, but must be a number");
  EXPECT_EQ(refusal(R"({"share": {"a": 1}})"), "train: share is an object, but must be a number");
  EXPECT_EQ(refusal(R"({"share": ")" + std::string(1000, 'x') + "\"}"),
            "train: share is a long text, but must be a number");
  EXPECT_EQ(refusal("{\"a\\nb\": 1}").find('\n'), std::string::npos);
}

TEST(Config, ChecksAConfigurationMadeInCode) {
  Settings settings;
  EXPECT_NO_THROW(check_config("train", settings));
  settings.learning_rate = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(check_config("train", settings), InputError);
}

TEST(Config, DescribesEveryFieldForHelpTexts) {
  const auto fields = describe_fields<Settings>();
  ASSERT_EQ(fields.size(), 7U);
  EXPECT_EQ(fields[1].name, "batch_size");
  EXPECT_EQ(fields[1].help, "transitions per gradient step");
  EXPECT_EQ(fields[1].default_value, "1000");
  EXPECT_EQ(fields[1].must_be, "at least 1");
  EXPECT_EQ(fields[3].default_value, "0.0005");
}

namespace {

/// Settings of which some are for some choices only.
struct Choosy {
  std::string density = "auto";
  int bins = 8;
  int width = 64;
  int corrections = -1;
  double rate = 0.5;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.density, "density", "the density", one_of({"auto", "gaussian", "maf", "nsf"}));
    visit(c.bins, "bins", "bins of the splines", when("density", {"nsf"}, between(2, 64)));
    visit(c.width, "width", "units", when("density", {"auto", "gaussian", "maf"}, at_least(4)));
    visit(c.corrections, "corrections", "steps at every level", at_least(-1));
    visit(c.rate, "rate", "their size",
          when_any({{{"corrections", {"> 0"}}}, {{"corrections", {"-1"}}, {"density", {"gaussian"}}}}, positive()));
  }
};

/// The sentence about a setting that is named in vain, or nothing. `preset` is set beside it, by nobody.
std::string in_vain(const char* named, const char* preset = "{}") {
  try {
    nlohmann::json all = nlohmann::json::parse(preset);
    all.update(nlohmann::json::parse(named));
    check_used("train", describe_fields<Choosy>(), nlohmann::json::parse(named), all);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(Config, RefusesASettingThatTheOthersMakeNoUseOf) {
  EXPECT_EQ(in_vain(R"({"bins": 12, "density": "nsf"})"), "");
  EXPECT_EQ(in_vain(R"({"bins": 12, "density": "gaussian"})"),
            "train: bins is 12, but density = gaussian does not use it (nsf does)");
  EXPECT_EQ(in_vain(R"({"bins": 12})"), "train: bins is 12, but density = auto does not use it (nsf does)");
  EXPECT_EQ(in_vain(R"({"width": 12})"), "");
  EXPECT_EQ(in_vain(R"({"width": 12, "density": "nsf"})"),
            "train: width is 12, but density = nsf does not use it (gaussian, maf do)");
}

TEST(Config, KnowsUsesWithAlternativesAndNumbers) {
  EXPECT_EQ(in_vain(R"({"rate": 0.1, "corrections": 3})"), "");
  EXPECT_EQ(in_vain(R"({"rate": 0.1, "density": "gaussian"})"), "");
  EXPECT_EQ(in_vain(R"({"rate": 0.1})"), "train: rate is 0.1, but density = auto does not use it (gaussian does)");
  EXPECT_EQ(in_vain(R"({"rate": 0.1, "corrections": 0, "density": "gaussian"})"),
            "train: rate is 0.1, but corrections = 0 does not use it (-1 does)");
}

TEST(Config, LetsUnusedSettingsOfAPresetBe) {
  EXPECT_EQ(in_vain(R"({"density": "gaussian"})", R"({"density": "nsf", "bins": 12})"), "");
  EXPECT_EQ(in_vain(R"({"bins": 12})", R"({"density": "nsf"})"), "");
}

TEST(Config, SaysInItsHelpWhatUsesASetting) {
  const auto fields = describe_fields<Choosy>();
  EXPECT_EQ(fields[1].help, "bins of the splines (with density = nsf)");
  EXPECT_EQ(fields[2].help, "units (with density = gaussian, maf)");
  EXPECT_EQ(fields[4].help, "their size (with corrections > 0, or corrections = -1 and density = gaussian)");
}

TEST(Config, NamesWhatIsInUseAndNotAtItsDefault) {
  const auto fields = describe_fields<Choosy>();
  EXPECT_EQ(worth_naming(fields, nlohmann::json::parse(R"({"density": "maf", "bins": 12, "width": 64, "rate": 0.5})")),
            nlohmann::json::parse(R"({"density": "maf"})"));
  EXPECT_EQ(worth_naming(fields, nlohmann::json::parse(R"({"density": "nsf", "bins": 12, "width": 12})")),
            nlohmann::json::parse(R"({"density": "nsf", "bins": 12})"));
}

}  // namespace catena::config_test

// The flags that a list of fields becomes, parsed by CLI11 as the program does it.
#include "cli/common.h"

#include <gtest/gtest.h>

namespace catena::cli::common_test {

namespace {

struct Settings {
  bool shuffle = true;
  int batch_size = 1000;
  std::uint64_t budget = 10;
  double learning_rate = 5e-4;
  std::string schedule = "cosine";

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.shuffle, "shuffle", "draw transitions in random order", anything());
    visit(c.batch_size, "batch_size", "transitions per gradient step", at_least(1));
    visit(c.budget, "budget", "transitions to simulate", anything());
    visit(c.learning_rate, "learning_rate", "largest step", positive());
    visit(c.schedule, "schedule", "shape of the learning rate", one_of({"cosine", "constant"}));
  }
};

/// Parses the words after `catena train`.
struct Parsed {
  CLI::App app{"", "catena"};
  CLI::App* train = app.add_subcommand("train");
  Settings settings;

  explicit Parsed(std::vector<std::string> words) {
    add_flags(*train, settings);
    words.insert(words.begin(), "train");
    std::ranges::reverse(words);  // the order that CLI11 wants for a vector
    app.parse(words);
  }
};

std::string refusal(const std::vector<std::string>& words) {
  try {
    const Parsed parsed(words);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(Flags, KeepTheDefaultsOfTheFields) {
  const Parsed parsed({});
  EXPECT_EQ(to_json(parsed.settings), to_json(Settings{}));
}

TEST(Flags, WriteToTheFieldsWhoseNamesTheyBear) {
  const Parsed parsed({"--batch-size", "32", "--learning-rate=0.1", "--schedule", "constant", "--no-shuffle"});
  EXPECT_EQ(parsed.settings.batch_size, 32);
  EXPECT_EQ(parsed.settings.learning_rate, 0.1);
  EXPECT_EQ(parsed.settings.schedule, "constant");
  EXPECT_FALSE(parsed.settings.shuffle);
  EXPECT_TRUE(Parsed({"--shuffle"}).settings.shuffle);
}

TEST(Flags, TakeWholeNumbersInScientificNotation) {
  EXPECT_EQ(Parsed({"--budget", "1e5"}).settings.budget, 100'000U);
  EXPECT_EQ(Parsed({"--budget", "2.5e3"}).settings.budget, 2500U);
  EXPECT_EQ(Parsed({"--budget", "18446744073709551615"}).settings.budget, 18446744073709551615U);
  EXPECT_EQ(Parsed({"--batch-size", "1e2"}).settings.batch_size, 100);
}

TEST(Flags, RefuseWhatIsNotANumberOrNotAllOfOne) {
  for (const std::string text : {"", "x", "1x", "1 ", " 1", "0x10", "1.5", "1e-1", "1e400", "nan", "inf"}) {
    EXPECT_EQ(refusal({"--batch-size", text}),
              "catena train: --batch-size is " + text + ", but must be a whole number");
  }
  EXPECT_EQ(refusal({"--learning-rate", "fast"}), "catena train: --learning-rate is fast, but must be a number");
}

TEST(Flags, RefuseWholeNumbersThatDoNotFit) {
  EXPECT_EQ(refusal({"--batch-size", "4294967297"}),
            "catena train: --batch-size is 4294967297, but must be between -2147483648 and 2147483647");
  EXPECT_EQ(refusal({"--budget", "-1"}),
            "catena train: --budget is -1, but must be a whole number between 0 and 18446744073709551615");
  EXPECT_EQ(refusal({"--budget", "18446744073709551616"}),
            "catena train: --budget is 18446744073709551616, but must be a whole number between 0 and "
            "18446744073709551615");
}

TEST(Flags, RefuseValuesOutOfBounds) {
  EXPECT_EQ(refusal({"--batch-size", "0"}), "catena train: --batch-size is 0, but must be at least 1");
  EXPECT_EQ(refusal({"--learning-rate", "-0.1"}),
            "catena train: --learning-rate is -0.1, but must be positive and finite");
  EXPECT_EQ(refusal({"--learning-rate", "nan"}),
            "catena train: --learning-rate is nan, but must be positive and finite");
  EXPECT_EQ(refusal({"--schedule", "square"}),
            "catena train: --schedule is square, but must be one of cosine, constant");
}

TEST(Flags, ShowHelpDefaultAndBounds) {
  const std::string help = Parsed({}).train->help();
  EXPECT_NE(help.find("--batch-size WHOLE=1000"), std::string::npos) << help;
  EXPECT_NE(help.find("transitions per gradient step (at least 1)"), std::string::npos) << help;
  EXPECT_NE(help.find("--learning-rate NUMBER=0.0005"), std::string::npos) << help;
  EXPECT_NE(help.find("(one of cosine, constant)"), std::string::npos) << help;
}

TEST(ExitCode, IsOneWithAdviceForANumericalFailure) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(exit_code("catena train", Outcome::ok), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  EXPECT_EQ(exit_code("catena train", Outcome::diverged), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "catena train: diverged: " + std::string(advice(Outcome::diverged, "catena train")) + "\n");
}

}  // namespace catena::cli::common_test

#include "catena/core/check.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

namespace catena::check_test {

namespace {

const double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

/// What a check says, or nothing if it is content.
std::string said(const std::function<void()>& check) {
  try {
    check();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(Check, SaysWhatIsWrongInOneSentence) {
  EXPECT_EQ(said([] { check::positive("train", "learning_rate", -0.1); }),
            "train: learning_rate is -0.1, but must be positive and finite");
  EXPECT_EQ(said([] { check::not_negative("train", "decay", -1.0); }),
            "train: decay is -1, but must be zero or more, and finite");
  EXPECT_EQ(said([] { check::at_least("simulate", "budget", 0, 1); }), "simulate: budget is 0, but must be at least 1");
  EXPECT_EQ(said([] { check::between("sample", "level", 1.5, 0.0, 1.0); }),
            "sample: level is 1.5, but must be between 0 and 1");
  EXPECT_EQ(said([] { check::equal("compose", "columns", 3, 2); }), "compose: columns is 3, but must be 2");
  EXPECT_EQ(said([] { check::that(false, "files", "name", "a b", "one word"); }),
            "files: name is a b, but must be one word");
}

TEST(Check, IsContentAtTheBoundsThemselves) {
  EXPECT_EQ(said([] { check::positive("f", "x", std::numeric_limits<double>::denorm_min()); }), "");
  EXPECT_EQ(said([] { check::not_negative("f", "x", 0.0); }), "");
  EXPECT_EQ(said([] { check::at_least("f", "x", 1, 1); }), "");
  EXPECT_EQ(said([] { check::between("f", "x", 0.0, 0.0, 1.0); }), "");
  EXPECT_EQ(said([] { check::between("f", "x", 1.0, 0.0, 1.0); }), "");
  EXPECT_EQ(said([] { check::equal("f", "x", 2, 2); }), "");
}

TEST(Check, RefusesNotANumberEverywhere) {
  EXPECT_EQ(said([] { check::positive("f", "x", nan); }), "f: x is nan, but must be positive and finite");
  EXPECT_EQ(said([] { check::not_negative("f", "x", nan); }), "f: x is nan, but must be zero or more, and finite");
  EXPECT_EQ(said([] { check::finite("f", "x", nan); }), "f: x is nan, but must be finite");
  EXPECT_EQ(said([] { check::at_least("f", "x", nan, 0.0); }), "f: x is nan, but must be at least 0");
  EXPECT_EQ(said([] { check::between("f", "x", nan, 0.0, 1.0); }), "f: x is nan, but must be between 0 and 1");
  EXPECT_EQ(said([] { check::equal("f", "x", nan, 0.0); }), "f: x is nan, but must be 0");
}

TEST(Check, RefusesInfinityWhereFiniteIsMeant) {
  EXPECT_EQ(said([] { check::positive("f", "x", infinity); }), "f: x is inf, but must be positive and finite");
  EXPECT_EQ(said([] { check::not_negative("f", "x", infinity); }), "f: x is inf, but must be zero or more, and finite");
  EXPECT_EQ(said([] { check::finite("f", "x", -infinity); }), "f: x is -inf, but must be finite");
}

TEST(Check, NamesTheFirstValueThatIsNotFinite) {
  const std::vector<double> values{1, 2, infinity, nan};
  EXPECT_EQ(said([&] { check::all_finite("train", "theta", values); }), "train: theta[2] is inf, but must be finite");
  EXPECT_EQ(said([&] { check::all_finite("train", "theta", std::span(values).first(2)); }), "");
  EXPECT_EQ(said([&] { check::all_finite("train", "theta", {}); }), "");
}

TEST(Check, ABrokenAssertionIsOurBugAndNamesItsPlace) {
  try {
    CATENA_ASSERT(1 + 1 == 3);
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("check_test.cpp"), std::string::npos) << what;
    EXPECT_NE(what.find("1 + 1 == 3 does not hold"), std::string::npos) << what;
  }
}

TEST(Errors, AFileErrorIsMisuseAndOurBugIsNot) {
  EXPECT_THROW(throw FileError("f"), InputError);
  EXPECT_FALSE((std::is_base_of_v<InputError, InternalError>));
  EXPECT_FALSE((std::is_base_of_v<InputError, Interrupted>));
}

}  // namespace catena::check_test

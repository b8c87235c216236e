#include "catena/files/json.h"

#include <limits>

#include "files/support.h"

namespace catena::files::json_test {

TEST(Json, WritesAndReadsBack) {
  const TemporaryFolder folder;
  const nlohmann::json value = {{"größe", {1, -2, 0.1, 1e-300, "text\n", nullptr, true}},
                                {"empty", nlohmann::json::object()}};
  write_json(folder / "file.json", value);
  EXPECT_EQ(read_json(folder / "file.json"), value);
}

TEST(Json, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "nul", "{\"a\" 1}", "1 2", "\"\xff\"", "[NaN]"}) {
    expect_error([&] { parse_json(text, "file"); }, "file: is not valid JSON");
  }
  expect_error([] { parse_json("1e999", "file"); }, "no double can hold");
}

TEST(Json, RefusesDeepNestingWithoutTouchingTheStack) {
  std::string deep;
  deep.assign(10'000'000, '[');
  expect_error([&] { parse_json(deep, "file"); }, "deeper than 64 levels");
  const std::string allowed = std::string(64, '[') + std::string(64, ']');
  EXPECT_NO_THROW(parse_json(allowed, "file"));
  std::string objects;
  for (int i = 0; i < 65; ++i) objects += "{\"a\":";
  expect_error([&] { parse_json(objects, "file"); }, "deeper than 64 levels");
}

TEST(Json, RefusesANameTwice) {
  expect_error([] { parse_json(R"({"a": 1, "b": {"a": 2}, "a": 3})", "file"); }, "the name \"a\" twice");
  EXPECT_NO_THROW(parse_json(R"({"a": 1, "b": [{"a": 2}, {"a": 2}]})", "file"));
}

TEST(Json, RefusesTooManyBytes) {
  expect_error([] { parse_json("[1, 2, 3]", "file", {.max_bytes = 5}); }, "at most 5");
}

TEST(Json, DoesNotWriteWhatJsonCannotHold) {
  expect_error<InputError>([] { dump_json({{"a", {1.0, std::numeric_limits<double>::quiet_NaN()}}}); }, "finite");
  expect_error<InputError>([] { dump_json("\xff"); }, "UTF-8");
}

}  // namespace catena::files::json_test

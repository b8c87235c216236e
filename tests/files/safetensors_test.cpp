#include "catena/files/safetensors.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "data_path.h"
#include "files/support.h"

namespace catena::files::safetensors_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Header length, header, values: with a length that may lie.
std::string raw(std::string_view header, std::string_view values = "", std::int64_t lie = 0) {
  const std::uint64_t length = header.size() + static_cast<std::uint64_t>(lie);
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes.append(header).append(values);
}

void expect_refused(std::string_view header, std::size_t value_bytes, std::string_view sentence) {
  expect_error([&] { parse_safetensors(raw(header, std::string(value_bytes, '\0')), "file"); }, sentence);
}

}  // namespace

TEST(Safetensors, WritesAndReadsBack) {
  const TemporaryFolder folder;
  TensorFile file;
  file.metadata = {{"seed", 7}, {"names", {"α", "β"}}, {"mean", {0.1, -3.0}}};
  file.other = {{"author", "me"}};
  file.tensors = {{"count", {}, std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()}},
                  {"größe/0", {2, 2}, std::vector<double>{1e-310, -0.0, infinity, -infinity}},
                  {"weight", {3}, std::vector<float>{1, 2, 3}},
                  {"empty", {0, 4}, std::vector<float>{}},
                  {"also empty", {2, 0}, std::vector<float>{}}};
  write_safetensors(folder / "a.safetensors", file);
  const TensorFile back = read_safetensors(folder / "a.safetensors");
  EXPECT_EQ(back.metadata, file.metadata);
  EXPECT_EQ(back.other, file.other);
  ASSERT_EQ(back.tensors.size(), file.tensors.size());
  for (const Tensor& tensor : file.tensors) EXPECT_EQ(back.at(tensor.name), tensor);
  EXPECT_TRUE(std::signbit(std::get<1>(back.at("größe/0").values)[1]));
}

TEST(Safetensors, KeepsNaN) {
  const TemporaryFolder folder;
  TensorFile file;
  file.tensors = {{"a", {1}, std::vector<float>{std::nanf("")}}};
  write_safetensors(folder / "a", file);
  EXPECT_TRUE(std::isnan(std::get<0>(read_safetensors(folder / "a").at("a").values)[0]));
}

TEST(Safetensors, PutsEveryValueOnItsAlignment) {
  const TemporaryFolder folder;
  TensorFile file;
  file.tensors = {{"f", {1}, std::vector<float>{1}}, {"d", {1}, std::vector<double>{2}}};
  write_safetensors(folder / "a", file);
  const std::string bytes = get_bytes(folder / "a");
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  EXPECT_EQ(header % 8, 0U);
  double first = 0;
  std::memcpy(&first, bytes.data() + 8 + header, 8);
  EXPECT_EQ(first, 2);
}

// python.safetensors: written by Python's safetensors; the recipe is tests/data/make_goldens.py.
TEST(Safetensors, ReadsAFileOfPython) {
  const TensorFile file = read_safetensors(CATENA_TEST_DATA "/python.safetensors");
  EXPECT_EQ(file.metadata, nlohmann::json::object());
  EXPECT_EQ(file.other, (std::map<std::string, std::string>{{"format", "np"}, {"author", "Grüße"}}));
  EXPECT_EQ(file.at("weight"), (Tensor{"weight", {2, 3}, std::vector<float>{0, 0.25F, 0.5F, 0.75F, 1, 1.25F}}));
  EXPECT_EQ(file.at("mean"), (Tensor{"mean", {3}, std::vector<double>{std::numbers::pi, infinity, -0.0}}));
  EXPECT_EQ(file.at("steps"), (Tensor{"steps", {}, std::vector<std::int64_t>{12345678901234}}));
  EXPECT_EQ(file.at("empty"), (Tensor{"empty", {0, 3}, std::vector<float>{}}));
}

TEST(Safetensors, RefusesHeaderLengthsThatLie) {
  expect_error([] { parse_safetensors("", "file"); }, "only 0 bytes");
  expect_error([] { parse_safetensors("1234567", "file"); }, "only 7 bytes");
  expect_error([] { parse_safetensors(raw("{}", "", 1), "file"); }, "its header claims 3 bytes");
  expect_error([] { parse_safetensors(raw("{}", "", -1), "file"); }, "not valid JSON");
  expect_error([] { parse_safetensors(raw("{}", "", std::numeric_limits<std::int64_t>::max()), "file"); }, "claims");
  expect_error([] { parse_safetensors(std::string(64, '\xff'), "file"); }, "claims 18446744073709551615 bytes");
}

TEST(Safetensors, RefusesEveryTruncation) {
  const std::string whole = get_bytes(CATENA_TEST_DATA "/python.safetensors");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(parse_safetensors(whole.substr(0, length), "file"), FileError) << length;
  }
  EXPECT_THROW(parse_safetensors(whole + "x", "file"), FileError);
}

TEST(Safetensors, RefusesHostileEntries) {
  expect_refused(R"([])", 0, "brace");
  expect_refused(R"( {})", 0, "brace");
  expect_refused(R"({"a": 1})", 0, "not {dtype, shape, data_offsets}");
  expect_refused(R"({"a": {"dtype": 1, "shape": [], "data_offsets": [0, 8]}})", 8, "not a text");
  expect_refused(R"({"a": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}})", 2, "\"BF16\"");
  expect_refused(R"({"a": {"dtype": "F64", "shape": 1, "data_offsets": [0, 8]}})", 8, "not a list");
  expect_refused(R"({"a": {"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}})", 8, "whole number");
  expect_refused(R"({"a": {"dtype": "F64", "shape": [1.0], "data_offsets": [0, 8]}})", 8, "whole number");
  expect_refused(R"({"a": {"dtype": "F64", "shape": [1], "data_offsets": [0]}})", 8, "not a pair");
  expect_refused(R"({"a": {"dtype": "F64", "shape": [1], "data_offsets": [8, 0]}})", 8, "stands at bytes 8 to 0");
  expect_refused(R"({"a": {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}})", 8, "has 8 bytes of values");
  expect_refused(R"({"a": {"dtype": "F64", "shape": [2], "data_offsets": [0, 8]}})", 8, "its shape needs 16");
  expect_refused(R"({"a": {"dtype": "F64", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]}})", 0,
                 "overflows");
  expect_refused(R"({"a": {"dtype": "F64", "shape": [2305843009213693952], "data_offsets": [0, 0]}})", 0, "overflows");
  expect_refused(R"({"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8], "x": 1}})", 8, "not {dtype");
}

TEST(Safetensors, RefusesHolesOverlapsAndRests) {
  const std::string a = R"("a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]})";
  const auto b = [](int begin) {
    return R"("b": {"dtype": "F64", "shape": [1], "data_offsets": [)" + std::to_string(begin) + "," +
           std::to_string(begin + 8) + "]}";
  };
  EXPECT_NO_THROW(parse_safetensors(raw("{" + a + "," + b(8) + "}", std::string(16, '\0')), "file"));
  expect_refused("{" + a + "," + b(4) + "}", 12, "begins at byte 4, but the one before it ends at 8");
  expect_refused("{" + a + "," + b(16) + "}", 24, "begins at byte 16");
  expect_refused("{" + a + "}", 9, "fill only 8");
  expect_refused("{" + a + "," + a + "}", 8, "the name \"a\" twice");
}

TEST(Safetensors, RefusesHostileMetadata) {
  expect_refused(R"({"__metadata__": 1})", 0, "not an object");
  expect_refused(R"({"__metadata__": {"a": 1}})", 0, "not a text");
  expect_refused(R"({"__metadata__": {"catena": "{}"}})", 0, "no format version");
  expect_refused(R"({"__metadata__": {"catena": "{}", "format": "catena-x"}})", 0, "no version");
  expect_refused(R"({"__metadata__": {"catena": "{}", "format": "catena-99"}})", 0, "written by a newer catena");
  expect_refused(R"({"__metadata__": {"catena": "{", "format": "catena-1"}})", 0, "not valid JSON");
  expect_refused(R"({"__metadata__": {"catena": "[]", "format": "catena-1"}})", 0, "not a JSON object");
  expect_refused(R"({"__metadata__": {"catena": ")" + std::string(100, '[') + R"(", "format": "catena-1"}})", 0,
                 "deeper");
}

TEST(Safetensors, DoesNotWriteWhatItCouldNotRead) {
  const TemporaryFolder folder;
  const auto write = [&](const TensorFile& file) { write_safetensors(folder / "a", file); };
  expect_error<InputError>([&] { write({.metadata = 1}); }, "metadata is number");
  expect_error<InputError>([&] { write({.tensors = {{"a", {2}, std::vector<float>{1}}}}); }, "must be 2");
  expect_error<InputError>([&] { write({.tensors = {{"a", {0}, {}}, {"a", {0}, {}}}}); }, "another one");
  expect_error<InputError>([&] { write({.tensors = {{"__metadata__", {0}, {}}}}); }, "another one");
  expect_error<InputError>([&] { write({.tensors = {{"\xff", {0}, {}}}}); }, "UTF-8");
  expect_error<InputError>([&] { write({.metadata = {{"a", infinity}}}); }, "finite");
  expect_error<InputError>([&] { static_cast<void>(TensorFile{}.at("a")); }, "the name of one of the tensors");
  EXPECT_EQ(folder.entries(), 0);
}

}  // namespace catena::files::safetensors_test

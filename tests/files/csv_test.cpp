#include "catena/files/csv.h"

#include <cmath>
#include <limits>

#include "files/support.h"

namespace catena::files::csv_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double missing = std::numeric_limits<double>::quiet_NaN();

/// Equal, with NaN equal to NaN and −0 different from 0.
void expect_values(const Matrix& values, std::size_t cols, const std::vector<double>& expected) {
  ASSERT_EQ(values.cols(), cols);
  ASSERT_EQ(values.rows() * cols, expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::isnan(values.data()[i]), std::isnan(expected[i])) << i;
    EXPECT_TRUE(std::isnan(expected[i]) || values.data()[i] == expected[i]) << i;
    EXPECT_TRUE(std::isnan(expected[i]) || std::signbit(values.data()[i]) == std::signbit(expected[i])) << i;
  }
}

}  // namespace

TEST(Csv, ReadsAFileWithoutAHeader) {
  const Series series = parse_csv("1,2\n3.5,-4e-3\n", "file");
  EXPECT_TRUE(series.names.empty());
  EXPECT_TRUE(series.times.empty());
  expect_values(series.values, 2, {1, 2, 3.5, -4e-3});
}

TEST(Csv, KeepsTheTimesApart) {
  const Series series = parse_csv("prey,Time,predator\n1,0,2\n3,0.5,4\n", "file");
  EXPECT_EQ(series.names, (std::vector<std::string>{"prey", "predator"}));
  EXPECT_EQ(series.times, (std::vector<double>{0, 0.5}));
  expect_values(series.values, 2, {1, 2, 3, 4});
  EXPECT_EQ(parse_csv("t,x\n1,2\n", "file").times, std::vector<double>{1});
  // With both, `time` is the time and `t` a variable.
  EXPECT_EQ(parse_csv("t,time\n1,2\n", "file").names, std::vector<std::string>{"t"});
}

TEST(Csv, ReadsMissingValues) {
  const Series series = parse_csv("a,b,c\n,NaN,nan\nNA,na,-nan\n1,,\n", "file");
  expect_values(series.values, 3, {missing, missing, missing, missing, missing, missing, 1, missing, missing});
  // A first row of nothing but missing values is no header.
  expect_values(parse_csv("NaN,\n1,2\n", "file").values, 2, {missing, missing, 1, 2});
}

TEST(Csv, InOneColumnABlankLineIsAMissingValue) {
  expect_values(parse_csv("x\n1\n\n3\n\n\n", "file").values, 1, {1, missing, 3});
  expect_values(parse_csv("1,2\n\n3,4\n", "file").values, 2, {1, 2, 3, 4});
}

TEST(Csv, ReadsOtherDialects) {
  expect_values(parse_csv("1;2\r\n3;4\r\n", "file").values, 2, {1, 2, 3, 4});
  expect_values(parse_csv("1\t2\n\t4\n\t\n", "file").values, 2, {1, 2, missing, 4, missing, missing});
  expect_values(parse_csv("# made by hand\n 1 , +2 \n#\n3,inf", "file").values, 2, {1, 2, 3, infinity});
  const Series series = parse_csv("\xEF\xBB\xBF\"a;\"\"b\"\"\";größe\n1;2\n", "file");
  EXPECT_EQ(series.names, (std::vector<std::string>{"a;\"b\"", "größe"}));
}

TEST(Csv, ReadsTinyNumbersAsZeroAndRefusesHugeOnes) {
  expect_values(parse_csv("1e-999,-1e-400,4.9e-324\n", "file").values, 3, {0, -0.0, 4.9e-324});
  expect_error([] { parse_csv("1\n1e999\n", "file"); }, "line 2 has \"1e999\" where a number must stand");
  expect_error([] { parse_csv("1\n-1e99999\n", "file"); }, "line 2");
}

TEST(Csv, NamesTheLineOfAnError) {
  expect_error([] { parse_csv("a,b\n1,2\n# comment\n1,2,3\n", "file"); },
               "file: line 4 has 3 fields, but the first one has 2");
  expect_error([] { parse_csv("1,2\n1\n", "file"); }, "line 2 has 1 fields");
  expect_error([] { parse_csv("1,2\n1,x\n", "file"); }, "line 2 has \"x\"");
  expect_error([] { parse_csv("1,2\n1,0x1\n", "file"); }, "line 2");
  expect_error([] { parse_csv("1,2\n1,1 2\n", "file"); }, "line 2");
  expect_error([] { parse_csv("1,2\n1,nan(1)\n", "file"); }, "line 2");
  expect_error([] { parse_csv("a\n\"1\n", "file"); }, "line 2 has a quote that does not end");
  expect_error([] { parse_csv("\"a\"x,b\n", "file"); }, "line 1 has text after a closing quote");
}

TEST(Csv, RefusesFilesThatAreNoSeries) {
  expect_error([] { parse_csv("", "file"); }, "holds no values");
  expect_error([] { parse_csv("# nothing\n\n", "file"); }, "holds no values");
  expect_error([] { parse_csv("a,a\n1,2\n", "file"); }, "two columns with the name \"a\"");
  expect_error([] { parse_csv("time,a\n,2\n", "file"); }, "row 1 of values has no finite time");
  expect_error([] { parse_csv(std::string("1,2\n\0,3\n", 8), "file"); }, "line 2 has \"\\x00\"");
  EXPECT_EQ(parse_csv("a,b\n", "file").values.rows(), 0U);
}

TEST(Csv, DoublesSurviveBitForBit) {
  const TemporaryFolder folder;
  Series series{{"a", "größe", "c,\"d\"", " e", "#f"}, Matrix(3, 5), {0.1, 0.2, 0.30000000000000004}};
  const double values[] = {
      1.0 / 3, -0.0,   infinity, -infinity, missing, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308,
      0.1,     123456, 1e21,     1e-7,      1e22,    -1,     9007199254740993.0};
  std::copy(std::begin(values), std::end(values), series.values.data());
  write_csv(folder / "a.csv", series);
  const Series back = read_csv(folder / "a.csv");
  EXPECT_EQ(back.names, series.names);
  EXPECT_EQ(back.times, series.times);
  expect_values(back.values, 5, {std::begin(values), std::end(values)});
}

TEST(Csv, WritesTheShortestNumbers) {
  const TemporaryFolder folder;
  Series series{{}, Matrix(1, 3), {}};
  series.values(0, 0) = 0.1;
  series.values(0, 1) = missing;
  series.values(0, 2) = 2;
  write_csv(folder / "a.csv", series);
  EXPECT_EQ(get_bytes(folder / "a.csv"), "0.1,NaN,2\n");
}

TEST(Csv, DoesNotWriteWhatItCouldNotReadBack) {
  const TemporaryFolder folder;
  const auto write = [&](const Series& series) { write_csv(folder / "a.csv", series); };
  expect_error<InputError>([&] { write({{"1", "2"}, Matrix(1, 2), {}}); }, "words");
  expect_error<InputError>([&] { write({{"a", "t"}, Matrix(1, 2), {}}); }, "a name is t, but must be another one");
  expect_error<InputError>([&] { write({{"a", "TIME"}, Matrix(1, 2), {1}}); }, "a name is TIME, but");
  expect_error<InputError>([&] { write({{"a", "a"}, Matrix(1, 2), {}}); }, "different");
  expect_error<InputError>([&] { write({{"a"}, Matrix(1, 2), {}}); }, "number of names");
  expect_error<InputError>([&] { write({{}, Matrix(1, 2), {1, 2}}); }, "number of times");
  expect_error<InputError>([&] { write({{}, Matrix(1, 2), {missing}}); }, "finite");
  expect_error<InputError>([&] { write({{"a\nb"}, Matrix(1, 1), {}}); }, "on one line");
  expect_error<InputError>([&] { write({{}, Matrix(), {}}); }, "at least 1");
  EXPECT_EQ(folder.entries(), 0);
}

TEST(Csv, TablesOfTextsSurviveWithWhateverStandsInThem) {
  const std::vector<std::vector<std::string>> rows = {
      {"name", "a, b", "say \"no\""}, {"", "", ""}, {"# none", " padded ", "1e-3"}};
  std::string text;
  for (const auto& row : rows) text += text_line(row);
  const TextTable table = parse_text_table(text, "file");
  EXPECT_EQ(table.names, rows[0]);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0], rows[1]);
  EXPECT_EQ(table.rows[1], rows[2]);
  EXPECT_EQ(number_in("1e-3"), 1e-3);
  EXPECT_TRUE(std::isnan(number_in("").value()));
  EXPECT_FALSE(number_in("ok"));
  expect_error<FileError>([] { parse_text_table("a,b\n1\n", "file"); },
                          "file: line 2 has 1 fields, but the first one has 2");
}

}  // namespace catena::files::csv_test

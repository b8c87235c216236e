#include "catena/experiment/rows.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "catena/core/errors.h"
#include "data_path.h"

namespace catena::experiment::rows_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

fs::path committed() { return fs::path(CATENA_TEST_DATA) / "../../benchmarks/results/rows.csv"; }

std::vector<std::string> columns_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line, name;
  std::getline(file, line);
  std::istringstream names(line);
  std::vector<std::string> columns;
  while (std::getline(names, name, ',')) columns.push_back(name);
  columns.erase(columns.begin(), columns.begin() + 7);
  return columns;
}

}  // namespace

TEST(Rows, TheCommittedResultsAreRewrittenByteForByte) {
  const fs::path copy = fs::path(::testing::TempDir()) / "rows_copy.csv";
  fs::remove(copy);
  Rows rows(copy, columns_of(committed()));
  const std::vector<Row> all = read_rows(committed());
  ASSERT_GT(all.size(), 3000U);
  for (std::size_t i = 0; i < 200; ++i) rows.append(all[i * all.size() / 200]);
  const std::string text = text_of(committed());
  std::istringstream written(text_of(copy));
  std::size_t found = 0;
  for (std::string line; std::getline(written, line); ++found) {
    EXPECT_NE(text.find(line + "\n"), std::string::npos) << line;
  }
  EXPECT_EQ(found, 201U);
  // A new column rewrites all rows; without it they are the committed bytes.
  fs::copy_file(committed(), copy, fs::copy_options::overwrite_existing);
  const Rows with_column(copy, {"new"});
  std::string widened = text_of(copy), expected;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) expected += line + (expected.empty() ? ",new\n" : ",\n");
  EXPECT_EQ(widened, expected);
  fs::remove(copy);
}

TEST(Rows, WhatAKilledProcessLeftOfALineIsDropped) {
  const fs::path path = fs::path(::testing::TempDir()) / "rows_killed.csv";
  fs::remove(path);
  Row row{.task = "gaussian_rw",
          .method = "fnle",
          .budget = 10,
          .seed = ~std::uint64_t{0},
          .transitions = 3,
          .observation = 1,
          .outcome = Outcome::ok,
          .values = {{"c2st", 0.5}}};
  Rows(path, {"c2st", "sw1"}).append(row);
  const std::string whole = text_of(path);
  EXPECT_EQ(whole,
            "task,method,budget,seed,transitions,observation,outcome,c2st,sw1\n"
            "gaussian_rw,fnle,10,18446744073709551615,3,1,ok,0.5,\n");
  std::ofstream(path, std::ios::app) << "gaussian_rw,fn";
  Rows again(path, {"c2st"});
  EXPECT_EQ(text_of(path), whole);
  EXPECT_TRUE(again.contains(row));
  row.seed = 2;
  EXPECT_FALSE(again.contains(row));
  fs::remove(path);
}

TEST(Rows, ALaterRowTakesThePlaceOfOneThatFailed) {
  const fs::path path = fs::path(::testing::TempDir()) / "rows_failed.csv";
  fs::remove(path);
  Row row{.task = "sir", .method = "fnle", .budget = 10, .seed = 1, .transitions = 3, .observation = 1};
  row.error = "train: \"a\", and b";
  Rows rows(path, {"c2st", error_column});
  EXPECT_FALSE(rows.contains_failed(row));
  rows.append(row);
  EXPECT_EQ(text_of(path),
            "task,method,budget,seed,transitions,observation,outcome,c2st,error\n"
            "sir,fnle,10,1,3,1,failed,,\"train: \"\"a\"\", and b\"\n");
  EXPECT_TRUE(rows.contains(row) && rows.contains_failed(row));
  ASSERT_EQ(read_rows(path).size(), 1U);
  EXPECT_EQ(read_rows(path)[0].error, row.error);
  Row second = row;
  second.error.clear();
  second.values["c2st"] = 0.5;
  rows.append(second);
  EXPECT_TRUE(rows.contains(row) && !rows.contains_failed(row));
  rows.append(row);  // what has not failed stays
  ASSERT_EQ(read_rows(path).size(), 1U);
  EXPECT_FALSE(read_rows(path)[0].failed());
  EXPECT_EQ(read_rows(path)[0].values.at("c2st"), 0.5);
  fs::remove(path);
}

TEST(Rows, RefusesWhatIsNoTableOfResults) {
  const fs::path path = fs::path(::testing::TempDir()) / "rows_refused.csv";
  const auto sentence = [&](const std::string& text) -> std::string {
    std::ofstream(path, std::ios::trunc) << text;
    try {
      read_rows(path);
    } catch (const FileError& error) {
      return std::string(error.what()).substr(path.string().size());
    }
    return "";
  };
  const std::string header = "task,method,budget,seed,transitions,observation,outcome,c2st\n";
  EXPECT_EQ(sentence("a,b\n1,2\n"), ": is no table of results");
  EXPECT_EQ(sentence(header + "sir,fnle,1,1,1,1,ok\n"), ": line 2 has 7 fields, but the first one has 8");
  EXPECT_EQ(sentence(header + "sir,fnle,-1,1,1,1,ok,0.5\n"), ": \"-1\" is no whole number");
  EXPECT_EQ(sentence(header + "sir,fnle,1,1,1,1,ok,half\n"), ": \"half\" is no number");
  EXPECT_EQ(sentence(header + "sir,fnle,1,1,1,1,fine,0.5\n"), ": \"fine\" is no outcome that this catena knows");
  fs::remove(path);
}

}  // namespace catena::experiment::rows_test

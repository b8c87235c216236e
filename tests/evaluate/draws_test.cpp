#include "catena/evaluate/draws.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "catena/core/errors.h"
#include "catena/files/netcdf/netcdf.h"

namespace catena::evaluate::draws_test {
namespace {

using files::Group;
using files::Variable;

class DrawsFile : public ::testing::Test {
 protected:
  DrawsFile() : folder_(std::filesystem::temp_directory_path() / fmt::format("catena_draws_{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~DrawsFile() override { std::filesystem::remove_all(folder_); }

  Draws read(const Group& posterior) const {
    Group root;
    root.groups.push_back(posterior);
    files::write_netcdf(folder_ / "draws.nc", root);
    return read_draws(folder_ / "draws.nc");
  }
  Draws read_text(const std::string& text) const {
    std::ofstream(folder_ / "draws.csv") << text;
    return read_draws(folder_ / "draws.csv");
  }
  template <class Call>
  std::string sentence_of(const Call& call) const {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
  std::filesystem::path folder_;
};

TEST_F(DrawsFile, HasOneVariablePerParameter) {
  // Two chains of three draws; a variable of integers; one that is no draw.
  const Draws draws = read({.name = "posterior",
                            .dimensions = {{"chain", 2}, {"draw", 3}},
                            .variables = {{"beta", {"chain", "draw"}, std::vector<double>{0, 1, 2, 3, 4, 5}},
                                          {"alpha", {"chain", "draw"}, std::vector<std::int64_t>{9, 8, 7, 6, 5, 4}},
                                          {"draw", {"draw"}, std::vector<std::int64_t>{0, 1, 2}}}});
  EXPECT_EQ(draws.parameters, (std::vector<std::string>{"beta", "alpha"}));
  ASSERT_EQ(draws.values.rows(), 6U);
  for (std::size_t r = 0; r < 6; ++r) {
    EXPECT_EQ(draws.values(r, 0), static_cast<double>(r));
    EXPECT_EQ(draws.values(r, 1), 9 - static_cast<double>(r));
  }
}

TEST_F(DrawsFile, NamesTheEntriesOfAVectorByTheirLabels) {
  const Variable theta{"theta", {"chain", "draw", "parameter"}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}};
  const Variable labels{"parameter", {"parameter"}, std::vector<std::string>{"alpha", "beta"}};
  const std::vector<files::Dimension> dimensions{{"chain", 1}, {"draw", 4}, {"parameter", 2}};
  const Draws labelled = read({.name = "posterior", .dimensions = dimensions, .variables = {theta, labels}});
  EXPECT_EQ(labelled.parameters, (std::vector<std::string>{"alpha", "beta"}));
  EXPECT_EQ(labelled.values(1, 0), 3);
  EXPECT_EQ(labelled.values(3, 1), 8);
  const Draws unlabelled = read({.name = "posterior", .dimensions = dimensions, .variables = {theta}});
  EXPECT_EQ(unlabelled.parameters, (std::vector<std::string>{"theta[0]", "theta[1]"}));
  EXPECT_EQ(unlabelled.values, labelled.values);
  const Variable other{"sigma", {"chain", "draw"}, std::vector<double>{1, 2, 3, 4}};
  const Draws two = read({.name = "posterior", .dimensions = dimensions, .variables = {theta, labels, other}});
  EXPECT_EQ(two.parameters, (std::vector<std::string>{"theta[alpha]", "theta[beta]", "sigma"}));
}

TEST_F(DrawsFile, MayBeATable) {
  const Draws named = read_text("alpha,beta\n1,2\n3,4\n5,6\n");
  EXPECT_EQ(named.parameters, (std::vector<std::string>{"alpha", "beta"}));
  EXPECT_EQ(named.values.rows(), 3U);
  EXPECT_EQ(named.values(2, 1), 6);
  EXPECT_TRUE(read_text("1,2\n3,4\n").parameters.empty());
}

TEST_F(DrawsFile, IsRefusedInOneSentenceIfItHoldsNoDraws) {
  EXPECT_NE(sentence_of([&] { read({.name = "prior"}); }).find("draws.nc: the file has no group `posterior`"),
            std::string::npos);
  EXPECT_NE(
      sentence_of([&] {
        read({.name = "posterior", .dimensions = {{"x", 1}}, .variables = {{"alpha", {"x"}, std::vector<double>{1}}}});
      }).find("no variable of the group `posterior` has the dimensions chain and draw"),
      std::string::npos);
  EXPECT_NE(sentence_of([&] { read_text("time,x\n0,1\n1,2\n"); }).find("has a column of times"), std::string::npos);
}

TEST(Draws, AreBroughtIntoTheSameOrder) {
  Draws a{{"alpha", "beta"}, Matrix(1, 2)}, b{{"beta", "alpha"}, Matrix(1, 2)};
  b.values(0, 0) = 5;
  b.values(0, 1) = 7;
  EXPECT_EQ(in_order_of(a, b).values(0, 0), 7);
  EXPECT_EQ(in_order_of(a, b).values(0, 1), 5);
  EXPECT_EQ(in_order_of(Draws{{}, Matrix(1, 2)}, b).values, b.values);
  b.parameters = {"beta", "gamma"};
  try {
    in_order_of(a, b);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "evaluate: the list of parameters of B is (beta, gamma), but must be that of A (alpha, beta)");
  }
}

}  // namespace
}  // namespace catena::evaluate::draws_test

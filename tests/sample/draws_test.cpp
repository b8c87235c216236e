#include "catena/sample/draws.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "catena/core/errors.h"
#include "catena/files/netcdf/netcdf.h"
#include "data_path.h"

namespace catena::sample::draws_test {
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

TEST_F(DrawsFile, KeepsTheCovariatesOfEverySeries) {
  Draws draws{{"a"}, Matrix(4, 1)};
  for (const std::size_t rows : {3, 2}) {
    files::Series& series = draws.series.emplace_back();
    series.names = {"x"};
    series.values = Matrix(rows, 1);
    series.covariate_names = {"temp", "dose"};
    series.covariates = Matrix(rows, 2);
    for (std::size_t r = 0; r < rows; ++r) {
      series.covariates(r, 0) = static_cast<double>(10 * rows + r);
      series.covariates(r, 1) = r == 0 ? std::nan("") : 0.5;
    }
  }
  write_draws(folder_ / "draws.nc", draws);
  const Draws read = read_draws(folder_ / "draws.nc");
  ASSERT_EQ(read.series.size(), 2U);
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_EQ(read.series[s].covariate_names, draws.series[s].covariate_names);
    for (std::size_t i = 0; i < draws.series[s].covariates.values().size(); ++i) {
      const double kept = read.series[s].covariates.values()[i], was = draws.series[s].covariates.values()[i];
      EXPECT_TRUE(kept == was || (std::isnan(kept) && std::isnan(was)));
    }
  }
  for (files::Series& series : draws.series) series.covariates = {}, series.covariate_names = {};
  write_draws(folder_ / "draws.nc", draws);
  EXPECT_EQ(read_draws(folder_ / "draws.nc").series.front().covariates.cols(), 0U);
}

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

TEST_F(DrawsFile, HasTheLearnedDrawsBesideCorrectedOnes) {
  Draws draws{{"alpha", "beta"}, Matrix(6, 2), 2};
  draws.learned = Matrix(3, 2);
  for (std::size_t k = 0; k < 6; ++k) draws.learned.values()[k] = static_cast<double>(k);
  draws.learned(2, 1) = std::nan("");  // a draw that failed stays where it is
  write_draws(folder_ / "corrected.nc", draws);
  const Draws read = read_draws(folder_ / "corrected.nc");
  ASSERT_EQ(read.learned.rows(), 3U);
  EXPECT_EQ(read.learned(1, 0), 2);
  EXPECT_TRUE(std::isnan(read.learned(2, 1)));
  const Draws turned = in_order_of({"beta", "alpha"}, read);
  EXPECT_EQ(turned.learned(1, 0), 3);
  EXPECT_EQ(turned.learned(1, 1), 2);
  draws.learned = Matrix();
  write_draws(folder_ / "learned.nc", draws);
  EXPECT_EQ(read_draws(folder_ / "learned.nc").learned.rows(), 0U);
}

TEST_F(DrawsFile, KeepsEverythingThatIsKnownOfTheDraws) {
  Draws draws{{"alpha", "beta"}, Matrix(6, 2), 2};
  for (std::size_t k = 0; k < 12; ++k) draws.values.values()[k] = static_cast<double>(k);
  draws.health = {{1.0, 100, 90}, {1.1, 50, 40}};
  draws.record = {{"method", "fnle"}, {"transitions", R"({"model": "sir"})"}, {"seed", 7}};
  draws.series = {{{"x", "y"}, Matrix(3, 2), {0, 2, 5.5}}, {{"x", "y"}, Matrix(2, 2), {}}};
  draws.series[0].values(1, 0) = std::nan("");  // a missing state
  draws.series[1].values(1, 1) = 4;
  write_draws(folder_ / "all.nc", draws);
  const Draws read = read_draws(folder_ / "all.nc");
  EXPECT_EQ(read.parameters, draws.parameters);
  EXPECT_EQ(read.values, draws.values);
  EXPECT_EQ(read.chains, 2U);
  EXPECT_EQ(read.dropped, 0U);
  ASSERT_EQ(read.health.size(), 2U);
  EXPECT_EQ(read.health[1].tail_ess, 40);
  EXPECT_EQ(read.record.at("transitions"), draws.record.at("transitions"));
  EXPECT_EQ(read.record.at("seed"), 7);
  ASSERT_EQ(read.series.size(), 2U);
  EXPECT_EQ(read.series[0].times, draws.series[0].times);
  EXPECT_EQ(read.series[0].names, draws.series[0].names);
  EXPECT_TRUE(std::isnan(read.series[0].values(1, 0)));
  EXPECT_TRUE(read.series[1].times.empty());
  EXPECT_EQ(read.series[1].values, draws.series[1].values);
  const Draws turned = in_order_of({"beta", "alpha"}, read);
  EXPECT_EQ(turned.values(0, 0), 1);
  EXPECT_EQ(turned.health[0].tail_ess, 40);
}

TEST_F(DrawsFile, HoldsNoDrawThatIsNotFinite) {
  Draws draws{{"alpha"}, Matrix(4, 1), 2};
  draws.values(2, 0) = std::nan("");
  draws.values(3, 0) = 3;
  write_draws(folder_ / "some.nc", draws);
  const Draws read = read_draws(folder_ / "some.nc");
  EXPECT_EQ(read.values.rows(), 3U);
  EXPECT_EQ(read.values(2, 0), 3);
  EXPECT_EQ(read.chains, 1U);
  EXPECT_EQ(read.dropped, 1U);
  for (double& value : draws.values.values()) value = std::nan("");
  EXPECT_EQ(sentence_of([&] { write_draws(folder_ / "none.nc", draws); }),
            "write_draws: the number of finite draws is 0, but must be at least 1");
}

/// tests/data/README.md says how it was made.
TEST(Draws, OfTheFirstVersionStayReadable) {
  const Draws draws = read_draws(CATENA_TEST_DATA "/draws/0.1.0/posterior.nc");
  EXPECT_EQ(draws.parameters, std::vector<std::string>{"theta_1"});
  EXPECT_EQ(draws.values.rows(), 20U);
  EXPECT_EQ(draws.chains, 1U);
  ASSERT_EQ(draws.series.size(), 2U);
  EXPECT_EQ(draws.series[0].values.rows(), 6U);
  EXPECT_EQ(draws.series[1].values.rows(), 4U);
  EXPECT_TRUE(draws.series[0].times.empty());
  EXPECT_EQ(draws.record.at("method"), "fnle");
  EXPECT_NE(draws.record.at("transitions").get<std::string>().find("gaussian_rw"), std::string::npos);
}

TEST(Draws, AreBroughtIntoTheSameOrder) {
  Draws a{{"alpha", "beta"}, Matrix(1, 2)}, b{{"beta", "alpha"}, Matrix(1, 2)};
  b.values(0, 0) = 5;
  b.values(0, 1) = 7;
  EXPECT_EQ(in_order_of(a.parameters, b).values(0, 0), 7);
  EXPECT_EQ(in_order_of(a.parameters, b).values(0, 1), 5);
  EXPECT_EQ(in_order_of({}, b).values, b.values);
  b.parameters = {"beta", "gamma"};
  try {
    in_order_of(a.parameters, b);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "evaluate: the list of parameters of B is (beta, gamma), but must be that of A (alpha, beta)");
  }
}

}  // namespace
}  // namespace catena::sample::draws_test

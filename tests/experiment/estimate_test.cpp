#include "catena/experiment/estimate.h"

#include <gtest/gtest.h>

namespace catena::experiment::estimate_test {
namespace {

Sweep sweep_of(const nlohmann::json& methods) {
  return Sweep::from_json("test", {{"tasks", {{{"name", "gaussian_rw"}}, {{"name", "mixture_rw"}}}},
                                   {"methods", methods},
                                   {"transitions", {1, 40}},
                                   {"observations", 2},
                                   {"draws", 20},
                                   {"metrics", {"sw1"}}});
}

Row finished(const Sweep& sweep, std::size_t number, double train, double sample) {
  Row row = row_plans(sweep, {})[number].row;
  row.values = {{"train_seconds", train}, {"sample_seconds", sample}};
  return row;
}

}  // namespace

TEST(Estimate, RestsOnTheNearestRowsThatAreThere) {
  const Sweep sweep =
      sweep_of({{{"method", "fnle"}}, {{"method", "fnle"}, {"label", "other"}, {"train", {{"steps", 5}}}}});
  const std::vector<RowPlan> plans = row_plans(sweep, {});
  ASSERT_EQ(plans.size(), 16U);  // gaussian_rw: fnle, other; mixture_rw: fnle, other; of each T = 1, 1, 40, 40
  RowSeconds seconds({finished(sweep, 0, 100, 2)});
  EXPECT_EQ(seconds.training(plans[1]), 100);
  EXPECT_EQ(seconds.drawing(plans[1]), 2);
  EXPECT_EQ(seconds.drawing(plans[2]), 40 * 2);         // a longer series, in proportion
  EXPECT_EQ(seconds.training(plans[8]), 100);           // another task
  EXPECT_EQ(seconds.training(plans[4]), std::nullopt);  // other settings of training, the same of drawing
  EXPECT_EQ(seconds.drawing(plans[4]), 2);
  seconds.add(finished(sweep, 8, 300, 4));
  EXPECT_EQ(seconds.training(plans[8]), 300);
  EXPECT_EQ(seconds.drawing(plans[8]), 4);
}

TEST(Estimate, CountsEveryModelOnceAndSaysWhatItDoesNotKnow) {
  // Two ways of drawing share what is learned.
  const Sweep sweep =
      sweep_of({{{"method", "fnse"}}, {{"method", "fnse"}, {"label", "fnse jac"}, {"sample", {{"rule", "jac"}}}}});
  std::vector<Row> there;
  const std::vector<RowPlan> plans = row_plans(sweep, {});
  for (const std::size_t number : {0U, 2U, 4U, 6U}) there.push_back(finished(sweep, number, 1000, 1));
  const std::vector<RowPlan> missing = missing_rows(sweep, there);
  EXPECT_EQ(missing.size(), plans.size() - there.size());
  const Estimate found = estimate(sweep, missing, RowSeconds(there), ::testing::TempDir(), Parallel(1));
  EXPECT_EQ(found.rows, 12U);
  EXPECT_EQ(found.models, 2U);  // of two tasks
  EXPECT_TRUE(found.unknown.empty());
  EXPECT_NEAR(found.seconds, 2 * 1000 + 12 * (1 + found.compare_seconds), 1e-6);
  there.resize(2);
  there[0].method = there[1].method = "fnle";
  const Estimate unknown = estimate(sweep, missing, RowSeconds(there), ::testing::TempDir(), Parallel(1));
  EXPECT_EQ(unknown.unknown.size(), 2U);
  EXPECT_EQ(unknown.seconds, 0);
  EXPECT_EQ(in_words(unknown), "12 missing, no row of fnse, fnse jac yet to go by");
}

TEST(Estimate, DurationsAreInTheUnitThatOneWouldSay) {
  EXPECT_EQ(duration(12.3), "12 s");
  EXPECT_EQ(duration(600), "10 min");
  EXPECT_EQ(duration(9000), "2.5 h");
}

}  // namespace catena::experiment::estimate_test

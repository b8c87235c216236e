#include "catena/core/quantile.h"

#include <gtest/gtest.h>

#include <vector>

namespace catena {
namespace {

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  std::vector<double> values{5, 1, 4, 2};  // numpy.quantile gives the same
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 4.7);
}

TEST(Quantile, OfOneValueIsThatValue) {
  std::vector<double> one{7};
  for (const double q : {0.0, 0.3, 1.0}) EXPECT_EQ(quantile(one, q), 7);
  EXPECT_EQ(deviation_of_quartiles(one), 0);
}

TEST(Quantile, DeviationOfQuartilesIgnoresWildValues) {
  std::vector<double> values(1001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  values.back() = 1e300;
  EXPECT_DOUBLE_EQ(deviation_of_quartiles(values), 500 / 1.3489795003921634);
}

}  // namespace
}  // namespace catena

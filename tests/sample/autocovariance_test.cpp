#include "catena/sample/mcmc/autocovariance.h"

#include <gtest/gtest.h>

#include "catena/core/random.h"

namespace catena::sample::autocovariance_test {
namespace {

/// By sums and by transforms: the same numbers to rounding, for odd numbers of chains and any length.
TEST(Autocovariances, AreTheSameBySumsAndByTransforms) {
  Stream stream = Streams(3).stream("test");
  for (const std::size_t chains : {1U, 2U, 5U}) {
    for (const std::size_t length : {4U, 64U, 200U, 257U}) {
      Matrix draws(chains, length);
      std::vector<double> means;
      for (std::size_t c = 0; c < chains; ++c) {
        double x = 3;
        for (double& value : draws.row(c)) value = x = 0.95 * x + stream.normal();
        means.push_back(0.1 * stream.normal());
      }
      Autocovariances covariances(draws, means);
      const auto all = covariances.transformed();
      ASSERT_EQ(all.size(), length);
      for (std::size_t lag = 0; lag < length; ++lag) {
        EXPECT_NEAR(all[lag], covariances.summed(lag), 1e-12 * all[0]) << chains << " chains, lag " << lag;
        EXPECT_NEAR(covariances(lag), all[lag], 1e-12 * all[0]);
      }
    }
  }
}

}  // namespace
}  // namespace catena::sample::autocovariance_test

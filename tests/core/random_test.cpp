#include "catena/core/random.h"

#include <gtest/gtest.h>

namespace catena {

TEST(Random, VectorFillEqualsTheScalarTwin) {
  for (const std::size_t n : {1, 2, 3, 7, 8, 255, 256, 257, 1000}) {
    Stream fast = Streams(5).stream("twin", n);
    Stream slow = fast;
    std::vector<double> values(n);
    fast.fill_uniform(values);
    for (const double v : values) EXPECT_EQ(v, slow.uniform());
    Stream fast2 = Streams(6).stream("twin", n), slow2 = fast2;
    fast2.fill_normal(values);
    for (const double v : values) EXPECT_NEAR(v, slow2.normal(), 4e-15 * (1 + std::abs(v)));
  }
}

}  // namespace catena

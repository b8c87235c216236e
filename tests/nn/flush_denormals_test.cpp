#include "catena/nn/flush_denormals.h"

#include <gtest/gtest.h>

namespace catena::nn::flush_denormals_test {
namespace {

TEST(FlushDenormals, CountThemAsZeroAndPutTheModeBack) {
#if defined(__SSE__)
  volatile float small = 1e-20F;
  EXPECT_GT(small * small, 0.0F);  // 1e-40, a denormal number
  {
    const FlushDenormals mode;
    EXPECT_EQ(small * small, 0.0F);
  }
  EXPECT_GT(small * small, 0.0F);
#else
  GTEST_SKIP() << "this processor has no such mode";
#endif
}

}  // namespace
}  // namespace catena::nn::flush_denormals_test

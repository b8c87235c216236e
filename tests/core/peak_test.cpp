#include "catena/core/peak.h"

#include <gtest/gtest.h>

#include "catena/core/errors.h"

namespace catena::peak_test {

TEST(Peak, LiesBetweenWhatCoresCanDo) {
  const Peak peak = measure_peak(3, 0.002);
  // At most 2 fused multiply-adds of 16 floats per cycle at 8 GHz: 512 GFLOP/s. More would mean that the compiler
  // removed the work. At least one operation per cycle at 0.1 GHz, even under a sanitizer.
  EXPECT_GT(peak.gflops, 0.1);
  EXPECT_LT(peak.gflops, 512);
  EXPECT_FALSE(peak.target.empty());
}

TEST(Peak, RefusesRunsOfNoLength) {
  EXPECT_THROW(measure_peak(0, 0.1), InputError);
  EXPECT_THROW(measure_peak(3, 0), InputError);
}

}  // namespace catena::peak_test

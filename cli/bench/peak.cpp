#include <fmt/format.h>

#include "bench/bench.h"

namespace catena::cli {

void bench_peak(BenchContext& context) {
  const Peak& peak = context.peak();
  context.record("peak_gflops", peak.gflops, "GFLOP/s", fmt::format("one core, single precision, {}", peak.target));
}

}  // namespace catena::cli

/// The machine's peak: how many floating-point operations one core does per second at most, measured, not looked up.
/// Speeds are reported as shares of it, so that they can be compared between machines and between noisy moments.
#pragma once

#include <cstdint>
#include <string>

namespace catena {

/// Does `rounds` rounds of fused multiply-adds that depend on nothing but themselves, on the calling thread, and
/// returns how many floating-point operations that were: what a benchmark times in turn with its own work.
double run_multiply_adds(std::uint64_t rounds);

/// Seconds that the calling thread has had a core so far: what others do with it meanwhile is not counted.
double thread_seconds();

struct Peak {
  double gflops = 0;   ///< 10⁹ single-precision operations per second; a fused multiply-add counts as two
  std::string target;  ///< the instruction set that was used: "AVX3", "AVX2", "NEON", …
};

/// The median of `runs` runs of about `run_seconds` each, on the calling thread and in its own time.
Peak measure_peak(int runs, double run_seconds);

}  // namespace catena

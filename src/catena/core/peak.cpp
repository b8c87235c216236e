// Chains of fused multiply-adds that depend on nothing but themselves. A core that starts two of them per cycle, each
// with a latency of 4 or 5 cycles, is busy with 10 chains; 12 leave room and still fit, with the two constants, into
// the 16 registers of SSE4 and AVX2.

#include "catena/core/peak.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "catena/core/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/core/peak.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace catena::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t chains = 12;

/// Runs all chains `rounds` times; *operations is how many that were. The value returned depends on every one of them.
float multiply_add_chains(std::uint64_t rounds, double* operations, std::int64_t* target) {
  const hn::ScalableTag<float> d;
  // x ← x/2 + 1 moves towards 2: no overflow, no denormal numbers, which would be slower.
  const auto half = hn::Set(d, 0.5F);
  const auto one = hn::Set(d, 1.0F);
  // The chains begin at different values, or the compiler would see that one of them is enough.
  const auto x = [&](int chain) { return hn::Iota(d, static_cast<float>(chain)); };
  auto x0 = x(0), x1 = x(1), x2 = x(2), x3 = x(3), x4 = x(4), x5 = x(5);
  auto x6 = x(6), x7 = x(7), x8 = x(8), x9 = x(9), x10 = x(10), x11 = x(11);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    x0 = hn::MulAdd(x0, half, one);
    x1 = hn::MulAdd(x1, half, one);
    x2 = hn::MulAdd(x2, half, one);
    x3 = hn::MulAdd(x3, half, one);
    x4 = hn::MulAdd(x4, half, one);
    x5 = hn::MulAdd(x5, half, one);
    x6 = hn::MulAdd(x6, half, one);
    x7 = hn::MulAdd(x7, half, one);
    x8 = hn::MulAdd(x8, half, one);
    x9 = hn::MulAdd(x9, half, one);
    x10 = hn::MulAdd(x10, half, one);
    x11 = hn::MulAdd(x11, half, one);
  }
  *operations = 2.0 * chains * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
  *target = HWY_TARGET;
  const auto low = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(x4, x5));
  const auto high = hn::Add(hn::Add(hn::Add(x6, x7), hn::Add(x8, x9)), hn::Add(x10, x11));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(low, high)));
}

}  // namespace catena::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace catena {

namespace kernels {

HWY_EXPORT(multiply_add_chains);

namespace {

volatile float sink = 0;  // the compiler must not conclude that nobody needs the result

double fastest_chains(std::uint64_t rounds, std::int64_t* target) {
  double operations = 0;
  sink = HWY_DYNAMIC_DISPATCH(multiply_add_chains)(rounds, &operations, target);
  return operations;
}

}  // namespace

}  // namespace kernels

double run_multiply_adds(std::uint64_t rounds) {
  std::int64_t target = 0;
  return kernels::fastest_chains(rounds, &target);
}

Peak measure_peak(int runs, double run_seconds) {
  check::at_least("measure_peak", "runs", runs, 1);
  check::positive("measure_peak", "run_seconds", run_seconds);
  using Clock = std::chrono::steady_clock;
  double operations = 0;
  std::int64_t target = 0;
  const auto time = [&](std::uint64_t rounds) {
    const auto begin = Clock::now();
    operations = kernels::fastest_chains(rounds, &target);
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  std::uint64_t rounds = 1024;  // doubled until a run is long enough, which lets the clock rate settle too
  while (time(rounds) < run_seconds) rounds *= 2;
  std::vector<double> gflops;
  for (int run = 0; run < runs; ++run) {
    const double seconds = time(rounds);
    gflops.push_back(1e-9 * operations / seconds);
  }
  const auto middle = gflops.begin() + runs / 2;
  std::ranges::nth_element(gflops, middle);
  return {*middle, hwy::TargetName(target)};
}

}  // namespace catena

#endif  // HWY_ONCE

// Chains of fused multiply-adds that depend on nothing but themselves. A core that starts two of them per cycle, each
// with a latency of 4 or 5 cycles, is busy with 10 chains. 12 leave room and still fit, with the two constants, into
// the 16 registers of SSE4 and AVX2. Where there are 32 registers there are 24 chains: a core that shares its ports
// with a neighbour's thread delays some of them, and a matrix product with 20 sums in flight was then faster than 12
// chains.

#include "catena/core/peak.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

#include "catena/core/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "catena/core/peak.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace catena::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr int chains = HWY_TARGET <= HWY_AVX3 ? 24 : 12;

/// N chains: x ← x/2 + 1 moves towards 2, so no overflow and no denormal numbers, which would be slower. Nested,
/// because the compiler would keep an array in memory.
template <int N>
struct Chains {
  V first;
  Chains<N - 1> rest;

  /// The chains begin at different values, or the compiler would see that one of them is enough.
  HWY_INLINE void start() {
    first = hn::Iota(D(), static_cast<float>(N));
    rest.start();
  }
  HWY_INLINE void step(V half, V one) {
    first = hn::MulAdd(first, half, one);
    rest.step(half, one);
  }
  HWY_INLINE V sum() const { return hn::Add(first, rest.sum()); }
};
template <>
struct Chains<0> {
  HWY_INLINE void start() {}
  HWY_INLINE void step(V, V) {}
  HWY_INLINE V sum() const { return hn::Zero(D()); }
};

/// Runs all chains `rounds` times; *operations is how many that were. The value returned depends on every one of them.
float multiply_add_chains(std::uint64_t rounds, double* operations, std::int64_t* target) {
  const D d;
  const V half = hn::Set(d, 0.5F);
  const V one = hn::Set(d, 1.0F);
  Chains<chains> x;
  x.start();
  for (std::uint64_t round = 0; round < rounds; ++round) x.step(half, one);
  *operations = 2.0 * chains * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
  *target = HWY_TARGET;
  return hn::GetLane(hn::SumOfLanes(d, x.sum()));
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

double thread_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double run_multiply_adds(std::uint64_t rounds) {
  std::int64_t target = 0;
  return kernels::fastest_chains(rounds, &target);
}

Peak measure_peak(int runs, double run_seconds) {
  check::at_least("measure_peak", "runs", runs, 1);
  check::positive("measure_peak", "run_seconds", run_seconds);
  double operations = 0;
  std::int64_t target = 0;
  const auto time = [&](std::uint64_t rounds) {
    const double begin = thread_seconds();
    operations = kernels::fastest_chains(rounds, &target);
    return thread_seconds() - begin;
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

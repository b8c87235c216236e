/// What `catena bench` measures: a list of named measurements, each of which records numbers under fixed keys. A new
/// one is a function in a file cli/bench_*.cpp and one line of the list in bench.cpp.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/turns.h"
#include "catena/core/peak.h"
#include "catena/core/stopwatch.h"

namespace catena::cli {

/// One number of the result: `key` is what scripts rely on.
struct Measurement {
  std::string key;
  double value = 0;
  std::string unit;     // "GFLOP/s", "ms", "of peak", …
  std::string meaning;  // a few words for the table
};

/// What a measurement gets, and where it leaves its numbers.
class BenchContext {
 public:
  explicit BenchContext(double run_seconds) : run_seconds_(run_seconds) {}

  /// What one core can do at most, measured once in this run.
  const Peak& peak();

  void record(std::string key, double value, std::string unit, std::string meaning);
  const std::vector<Measurement>& measurements() const { return measurements_; }

  /// Runs works in turn with the machine's peak: as much time for each as seconds_per_call takes, in slices of a
  /// fiftieth of --run-seconds.
  BesidePeak beside_peak(std::vector<std::function<void()>> works) const;
  /// Runs works in turn, without the peak, in slices of a fifth of --run-seconds: for works that wake other threads,
  /// which then stay awake for many calls, as they do in training.
  std::vector<Turns> in_turn(const std::vector<std::function<void()>>& works) const;

  /// Seconds per call of `work`: the median of nine runs, each of as many calls as fill --run-seconds.
  template <class Work>
  double seconds_per_call(const Work& work);

 private:
  static constexpr int runs = 9;
  double run_seconds_;
  std::vector<Measurement> measurements_;
  Peak peak_;
};

struct Benchmark {
  std::string_view name;
  std::string_view help;
  std::function<void(BenchContext&)> run;
  bool takes_minutes = false;  // and runs only if it is named
};

template <class Work>
double BenchContext::seconds_per_call(const Work& work) {
  const auto time = [&](long calls) {
    const Stopwatch watch;
    for (long i = 0; i < calls; ++i) work();
    return watch.seconds();
  };
  long calls = 1;  // doubled until a run is long enough, which warms caches and clock rate on the way
  while (time(calls) < run_seconds_) calls *= 2;
  std::vector<double> seconds;
  for (int run = 0; run < runs; ++run) seconds.push_back(time(calls) / static_cast<double>(calls));
  std::ranges::nth_element(seconds, seconds.begin() + runs / 2);
  return seconds[runs / 2];
}

}  // namespace catena::cli

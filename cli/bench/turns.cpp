#include "bench/turns.h"

#include <algorithm>
#include <utility>

#include "catena/core/peak.h"
#include "catena/core/stopwatch.h"

namespace catena::cli {

namespace {

double at_share(std::vector<double> values, std::size_t parts, std::size_t of) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(values.size() * parts / of);
  std::ranges::nth_element(values, place);
  return *place;
}

}  // namespace

std::vector<Turns> run_in_turn(const std::vector<std::function<void()>>& works, int rounds, double slice_seconds) {
  struct Seconds {
    double wall, core;
  };
  const auto time = [](const std::function<void()>& work, long calls) {
    const double core = thread_seconds();
    const Stopwatch watch;
    for (long i = 0; i < calls; ++i) work();
    const double wall = watch.seconds();
    return Seconds{wall, thread_seconds() - core};
  };
  std::vector<long> calls(works.size(), 1);  // doubled until a slice is long enough, which also warms the caches
  for (std::size_t w = 0; w < works.size(); ++w) {
    while (time(works[w], calls[w]).wall < slice_seconds / 2) calls[w] *= 2;
  }
  std::vector<Turns> turns(works.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t w = 0; w < works.size(); ++w) {
      const Seconds seconds = time(works[w], calls[w]);
      turns[w].wall.push_back(seconds.wall / static_cast<double>(calls[w]));
      turns[w].core.push_back(seconds.core / static_cast<double>(calls[w]));
    }
  }
  return turns;
}

double median(std::vector<double> values) { return at_share(std::move(values), 1, 2); }
double lower_quartile(std::vector<double> values) { return at_share(std::move(values), 1, 4); }

BesidePeak::BesidePeak(std::vector<std::function<void()>> works, int rounds, double slice_seconds) {
  constexpr std::uint64_t chain = 1 << 12;  // some 10 µs
  peak_operations_ = run_multiply_adds(chain);
  works.emplace_back([] { run_multiply_adds(chain); });
  turns_ = run_in_turn(works, rounds, slice_seconds);
}

double BesidePeak::peak() const { return peak_operations_ / median(turns_.back().core); }

double BesidePeak::share(std::size_t work, double operations) const {
  std::vector<double> ratios(turns_[work].core.size());
  std::ranges::transform(turns_.back().core, turns_[work].core, ratios.begin(), std::divides<>());
  return operations / peak_operations_ * median(std::move(ratios));
}

}  // namespace catena::cli

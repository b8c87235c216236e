#include "catena/evaluate/ecdf_band.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"

namespace catena::evaluate {

namespace {

constexpr std::size_t most_cuts = 200;

double two_sided(double lower, double upper) { return std::min(1.0, 2 * std::min(lower, upper)); }

}  // namespace

RankCounts::RankCounts(std::size_t series, std::size_t draws) : series_(series), draws_(draws) {
  CATENA_ASSERT(series > 0 && draws > 0);
  log_factorial_.resize(series + 1);
  for (std::size_t k = 1; k <= series; ++k) {
    log_factorial_[k] = log_factorial_[k - 1] + std::log(static_cast<double>(k));
  }
  const std::size_t count = std::min({series, draws, most_cuts});
  for (std::size_t i = 1; i <= count; ++i) {
    // Rounded to the nearest; they rise strictly because there are no more cuts than draws.
    cuts_.push_back((2 * i * (draws + 1) + count + 1) / (2 * (count + 1)));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double p = probability(i);
    std::vector<double> lower(series + 1), upper(series + 1);
    for (std::size_t x = 0; x <= series; ++x) {
      const auto k = static_cast<double>(x);
      lower[x] = upper[x] = std::exp(log_factorial_[series] - log_factorial_[x] - log_factorial_[series - x] +
                                     k * std::log(p) + (static_cast<double>(series) - k) * std::log1p(-p));
    }
    for (std::size_t x = 1; x <= series; ++x) lower[x] += lower[x - 1];
    for (std::size_t x = series; x-- > 0;) upper[x] += upper[x + 1];
    lower_.push_back(std::move(lower));
    upper_.push_back(std::move(upper));
  }
}

RankCounts::Region RankCounts::region(double gamma) const {
  Region result;
  for (std::size_t i = 0; i < cuts_.size(); ++i) {
    const auto inside = [&](std::size_t x) { return two_sided(lower_[i][x], upper_[i][x]) > gamma; };
    std::size_t low = 0;
    while (low <= series_ && !inside(low)) ++low;
    std::size_t high = series_;
    while (high > 0 && high >= low && !inside(high)) --high;
    result.lowest.push_back(low);
    result.highest.push_back(high);
  }
  return result;
}

/// Given x ranks below the cut with probability p, those below the next one, p′, are x + Binomial(N − x, (p′−p)/(1−p)).
double RankCounts::coverage(const Region& region) const {
  std::vector<double> mass(1, 1.0), next;  // P(counts so far inside, count now = first + index)
  std::size_t first = 0;
  double p = 0;
  for (std::size_t i = 0; i < cuts_.size(); ++i) {
    if (region.lowest[i] > region.highest[i]) return 0;
    const double step = (probability(i) - p) / (1 - p);
    const double log_step = std::log(step);
    const double log_stay = std::log1p(-step);
    next.assign(region.highest[i] - region.lowest[i] + 1, 0.0);
    for (std::size_t m = 0; m < mass.size(); ++m) {
      if (mass[m] == 0) continue;
      const std::size_t x = first + m;
      const std::size_t rest = series_ - x;
      for (std::size_t y = std::max(x, region.lowest[i]); y <= region.highest[i]; ++y) {
        const std::size_t k = y - x;
        next[y - region.lowest[i]] +=
            mass[m] * std::exp(log_factorial_[rest] - log_factorial_[k] - log_factorial_[rest - k] +
                               static_cast<double>(k) * log_step + static_cast<double>(rest - k) * log_stay);
      }
    }
    mass.swap(next);
    first = region.lowest[i];
    p = probability(i);
  }
  double sum = 0;
  for (const double m : mass) sum += m;
  return std::min(1.0, sum);
}

double RankCounts::gamma_of_level(double level) const {
  // At gamma = 1 − level one cut alone uses up the whole error (or more, by discreteness), and by Bonferroni's
  // inequality (1 − level)/K is always small enough: the answer lies between them.
  double small = (1 - level) / static_cast<double>(cuts_.size());
  double large = 1 - level;
  if (coverage(region(large)) >= level) return large;
  while (large / small > 1 + 1e-6) {
    const double middle = std::sqrt(small * large);
    (coverage(region(middle)) >= level ? small : large) = middle;
  }
  return small;
}

double RankCounts::smallest_p_value(std::span<const std::size_t> counts) const {
  CATENA_ASSERT(counts.size() == cuts_.size());
  double smallest = 1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    smallest = std::min(smallest, two_sided(lower_[i][counts[i]], upper_[i][counts[i]]));
  }
  return smallest;
}

}  // namespace catena::evaluate

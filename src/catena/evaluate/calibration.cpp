#include "catena/evaluate/calibration.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/evaluate/ecdf_band.h"
#include "catena/evaluate/samples.h"
#include "catena/prior/special.h"

namespace catena::evaluate {

namespace {

/// The number of draws per series.
std::size_t check_series(std::string_view function, ConstMatrixView draws, ConstMatrixView truth) {
  check_sample(function, "truth", truth, 1);
  check_sample(function, "draws", draws, 1);
  if (draws.cols != truth.cols) {
    check::fail(function, "the number of parameters in draws", draws.cols, fmt::format("{}, as in truth", truth.cols));
  }
  if (draws.rows % truth.rows != 0) {
    check::fail(function, "the number of draws", draws.rows, fmt::format("a multiple of the {} series", truth.rows));
  }
  return draws.rows / truth.rows;
}

/// Counts values on one side of `truth`; a value equal to it falls on either side at random: 0 … ties, all as likely.
class RankCount {
 public:
  explicit RankCount(double truth) : truth_(truth) {}
  void add(double value) {
    below_ += value < truth_ ? 1 : 0;
    equal_ += value == truth_ ? 1 : 0;
  }
  std::size_t rank(Stream& stream) const { return below_ + (equal_ > 0 ? stream.integer(equal_ + 1) : 0); }

 private:
  double truth_;
  std::size_t below_ = 0;
  std::size_t equal_ = 0;
};

}  // namespace

std::vector<Ranks> sbc_ranks(ConstMatrixView draws, ConstMatrixView truth, const Streams& streams,
                             const Parallel& parallel) {
  const std::size_t count = check_series("sbc_ranks", draws, truth);
  std::vector<Ranks> result(truth.cols, Ranks{count, std::vector<std::size_t>(truth.rows)});
  parallel.for_each(truth.rows, [&](std::size_t s) {
    Stream stream = streams.stream("sbc", s);
    for (std::size_t c = 0; c < truth.cols; ++c) {
      RankCount rank(truth(s, c));
      for (std::size_t i = 0; i < count; ++i) rank.add(draws(s * count + i, c));
      result[c].values[s] = rank.rank(stream);
    }
  });
  return result;
}

Ranks density_ranks(ConstMatrixView log_density_of_draws, std::span<const double> log_density_of_truth,
                    const Streams& streams) {
  check::equal("density_ranks", "the number of series in log_density_of_draws", log_density_of_draws.rows,
               log_density_of_truth.size());
  check_sample("density_ranks", "log_density_of_draws", log_density_of_draws, 1);
  check::all_finite("density_ranks", "log_density_of_truth", log_density_of_truth);
  Ranks result{log_density_of_draws.cols, {}};
  for (std::size_t s = 0; s < log_density_of_truth.size(); ++s) {
    Stream stream = streams.stream("density_ranks", s);
    RankCount rank(-log_density_of_truth[s]);
    for (const double log_density : log_density_of_draws.row(s)) rank.add(-log_density);
    result.values.push_back(rank.rank(stream));
  }
  return result;
}

Ranks tarp_ranks(ConstMatrixView draws, ConstMatrixView truth, const Streams& streams, const Parallel& parallel) {
  const std::size_t count = check_series("tarp_ranks", draws, truth);
  std::vector<double> low(truth.cols), width(truth.cols);
  for (std::size_t c = 0; c < truth.cols; ++c) {
    double high = low[c] = truth(0, c);
    for (std::size_t s = 0; s < truth.rows; ++s) {
      low[c] = std::min(low[c], truth(s, c));
      high = std::max(high, truth(s, c));
    }
    width[c] = high - low[c];
    check::positive("tarp_ranks", fmt::format("the range of parameter {} in truth", c), width[c]);
  }
  Ranks result{count, std::vector<std::size_t>(truth.rows)};
  parallel.for_each(truth.rows, [&](std::size_t s) {
    Stream stream = streams.stream("tarp", s);
    std::vector<double> point(truth.cols);
    for (double& x : point) x = stream.uniform();
    const auto squared_distance = [&](std::span<const double> theta) {
      double sum = 0;
      for (std::size_t c = 0; c < point.size(); ++c) {
        const double gap = (theta[c] - low[c]) / width[c] - point[c];
        sum += gap * gap;
      }
      return sum;
    };
    RankCount rank(squared_distance(truth.row(s)));
    for (std::size_t i = 0; i < count; ++i) rank.add(squared_distance(draws.row(s * count + i)));
    result.values[s] = rank.rank(stream);
  });
  return result;
}

namespace {

void check_ranks(std::string_view function, const Ranks& ranks, std::size_t least_series) {
  check::at_least(function, "the number of series", ranks.values.size(), least_series);
  check::at_least(function, "the number of draws", ranks.draws, std::size_t{1});
  for (std::size_t s = 0; s < ranks.values.size(); ++s) {
    check::between(function, fmt::format("rank[{}]", s), ranks.values[s], std::size_t{0}, ranks.draws);
  }
}

/// Bin b holds the ranks from ⌈b(L+1)/B⌉ up to the next one's first; χ² = Σ (observed − expected)² / expected.
void chi_squared_test(const Ranks& ranks, Uniformity& result) {
  const std::size_t values = ranks.draws + 1;
  const std::size_t series = ranks.values.size();
  result.bins = std::max<std::size_t>(2, std::min({std::size_t{20}, series / 5, values}));
  std::vector<double> observed(result.bins), expected(result.bins);
  const auto bin = [&](std::size_t rank) { return rank * result.bins / values; };
  for (const std::size_t rank : ranks.values) ++observed[bin(rank)];
  for (std::size_t v = 0; v < values; ++v) {
    expected[bin(v)] += static_cast<double>(series) / static_cast<double>(values);
  }
  for (std::size_t b = 0; b < result.bins; ++b) {
    result.chi_squared += (observed[b] - expected[b]) * (observed[b] - expected[b]) / expected[b];
  }
  const double freedom = static_cast<double>(result.bins - 1);
  result.chi_squared_p_value = prior::gamma_tails(freedom / 2, result.chi_squared / 2).upper;
}

void band_test(const Ranks& ranks, Uniformity& result) {
  const RankCounts counts(ranks.values.size(), ranks.draws);
  const RankCounts::Region band = counts.region(counts.gamma_of_level(result.level));
  std::vector<std::size_t> sorted = ranks.values;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> below;
  const auto series = static_cast<double>(sorted.size());
  for (std::size_t i = 0; i < counts.cuts().size(); ++i) {
    const auto end = std::lower_bound(sorted.begin(), sorted.end(), counts.cuts()[i]);
    below.push_back(static_cast<std::size_t>(end - sorted.begin()));
    const double p = counts.probability(i);
    result.point.push_back(p);
    result.difference.push_back(static_cast<double>(below[i]) / series - p);
    result.lower.push_back(static_cast<double>(band.lowest[i]) / series - p);
    result.upper.push_back(static_cast<double>(band.highest[i]) / series - p);
    result.inside = result.inside && below[i] >= band.lowest[i] && below[i] <= band.highest[i];
  }
  const double excursion = counts.smallest_p_value(below);
  result.band_p_value = 1 - counts.coverage(counts.region(excursion));
}

}  // namespace

Uniformity uniformity(const Ranks& ranks, double level) {
  check_ranks("uniformity", ranks, 5);
  check::that(level > 0 && level < 1, "uniformity", "level", level, "between 0 and 1");
  Uniformity result;
  result.level = level;
  chi_squared_test(ranks, result);
  band_test(ranks, result);
  return result;
}

Coverage expected_coverage(const Ranks& ranks, Interval interval, std::span<const double> credibility,
                           const Streams& streams) {
  check_ranks("expected_coverage", ranks, 1);
  check::at_least("expected_coverage", "the number of credibilities", credibility.size(), std::size_t{1});
  for (const double c : credibility) check::between("expected_coverage", "credibility", c, 0.0, 1.0);
  Stream stream = streams.stream("expected_coverage");
  std::vector<double> needed;  // the least credibility whose region contains the truth
  for (const std::size_t rank : ranks.values) {
    const double u = (static_cast<double>(rank) + stream.uniform()) / static_cast<double>(ranks.draws + 1);
    needed.push_back(interval == Interval::central ? std::abs(2 * u - 1) : u);
  }
  std::sort(needed.begin(), needed.end());
  Coverage result;
  result.credibility.assign(credibility.begin(), credibility.end());
  for (const double c : credibility) {
    const auto covered = std::upper_bound(needed.begin(), needed.end(), c) - needed.begin();
    result.expected.push_back(static_cast<double>(covered) / static_cast<double>(needed.size()));
    result.mean_excess += (result.expected.back() - c) / static_cast<double>(credibility.size());
  }
  return result;
}

std::vector<double> usual_credibilities() {
  std::vector<double> result;
  for (int i = 1; i < 20; ++i) result.push_back(i / 20.0);
  return result;
}

}  // namespace catena::evaluate

#include "catena/sample/mcmc/chain_health.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "catena/core/check.h"
#include "catena/core/quantile.h"
#include "catena/prior/special.h"
#include "catena/sample/mcmc/autocovariance.h"

namespace catena::sample {

namespace {

void check_draws(ConstMatrixView draws) {
  check::at_least("chain_health", "the number of chains", draws.rows, std::size_t{1});
  check::at_least("chain_health", "the number of draws in a chain", draws.cols, std::size_t{4});
  for (std::size_t c = 0; c < draws.rows; ++c) check::all_finite("chain_health", "draws", draws.row(c));
}

/// Each chain cut into its first and its last half (the middle draw of an odd number is left out), so that a chain
/// that drifts disagrees with itself.
Matrix split(ConstMatrixView draws) {
  const std::size_t half = draws.cols / 2;
  Matrix result(2 * draws.rows, half);
  for (std::size_t c = 0; c < draws.rows; ++c) {
    const auto row = draws.row(c);
    std::copy_n(row.begin(), half, result.row(2 * c).begin());
    std::copy_n(row.end() - static_cast<std::ptrdiff_t>(half), half, result.row(2 * c + 1).begin());
  }
  return result;
}

/// z = Φ⁻¹( (r − 3/8) / (S + 1/4) ), r the rank among all S draws, ties sharing their mean rank (Vehtari et al. eq.
/// 14).
Matrix rank_normalised(const Matrix& draws) {
  const auto values = draws.values();
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  Matrix result(draws.rows(), draws.cols());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = 0.5 * static_cast<double>(begin + 1 + end);
    const double share = (rank - 0.375) / (static_cast<double>(order.size()) + 0.25);
    const double z = prior::normal_from_tails({share, 1 - share});
    for (; begin < end; ++begin) result.values()[order[begin]] = z;
  }
  return result;
}

bool constant(const Matrix& draws) {
  const auto [low, high] = std::ranges::minmax_element(draws.values());
  return *high - *low < 1e-15;
}

struct Variances {
  double within;  // W: the mean of the chains' variances
  double total;   // var⁺ = (N − 1)/N W + B/N  (Vehtari et al. eq. 3)
  std::vector<double> means;
};

Variances variances(const Matrix& draws) {
  const double n = static_cast<double>(draws.cols()), m = static_cast<double>(draws.rows());
  Variances result{0, 0, {}};
  for (std::size_t c = 0; c < draws.rows(); ++c) {
    const auto row = draws.row(c);
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
    double squares = 0;
    for (const double value : row) squares += (value - mean) * (value - mean);
    result.within += squares / (n - 1) / m;
    result.means.push_back(mean);
  }
  double between = 0;  // B/N: the variance of the chains' means
  if (draws.rows() > 1) {
    const double grand = std::accumulate(result.means.begin(), result.means.end(), 0.0) / m;
    for (const double mean : result.means) between += (mean - grand) * (mean - grand) / (m - 1);
  }
  result.total = (n - 1) / n * result.within + between;
  return result;
}

double plain_r_hat(const Matrix& draws) {
  if (constant(draws)) return 1;
  const Variances v = variances(draws);
  return v.within > 0 ? std::sqrt(v.total / v.within) : std::numeric_limits<double>::infinity();
}

/// MN/τ,  τ = 1 + 2 Σ_t ρ_t,  ρ_t = 1 − (W − mean over chains of the lag-t autocovariance) / var⁺, the sum cut by
/// Geyer's initial monotone sequence of pairs P_k = ρ_2k + ρ_2k+1 (Vehtari et al. section 3.2; docs/refs.bib:
/// geyer1992).
double plain_ess(const Matrix& draws) {
  const double size = static_cast<double>(draws.rows() * draws.cols());
  if (constant(draws)) return size;
  const std::size_t n = draws.cols();
  const Variances v = variances(draws);
  Autocovariances covariance(draws, v.means);
  const auto correlation = [&](std::size_t lag) { return lag == 0 ? 1.0 : 1 - (v.within - covariance(lag)) / v.total; };
  // The pair that ends the sequence (the first one with a negative sum, or the last one there are draws for) counts
  // with its even correlation alone, once.
  double pair_sum = 0;
  double smallest = std::numeric_limits<double>::infinity();
  double even = 1, odd = correlation(1);
  for (std::size_t lag = 2; lag + 2 < n && even + odd > 0; lag += 2) {
    smallest = std::min(smallest, even + odd);
    pair_sum += smallest;
    even = correlation(lag);
    odd = correlation(lag + 1);
  }
  const double last_even = std::max(even, 0.0);
  // Antithetic chains may have τ below 1, but not by more than the number of draws can show.
  const double tau = std::max(-1 + 2 * pair_sum + last_even, 1 / std::log10(size));
  return size / tau;
}

std::vector<double> all_values(ConstMatrixView draws) {
  std::vector<double> values;
  for (std::size_t c = 0; c < draws.rows; ++c) values.insert(values.end(), draws.row(c).begin(), draws.row(c).end());
  return values;
}

/// ESS of the indicator x ≤ (its q-quantile).
double quantile_ess(ConstMatrixView draws, double q) {
  std::vector<double> values = all_values(draws);
  const double bound = quantile(values, q);
  Matrix indicator(draws.rows, draws.cols);
  for (std::size_t c = 0; c < draws.rows; ++c) {
    for (std::size_t i = 0; i < draws.cols; ++i) indicator(c, i) = draws(c, i) <= bound ? 1 : 0;
  }
  return plain_ess(split(indicator));
}

}  // namespace

double r_hat(ConstMatrixView draws) {
  check_draws(draws);
  const Matrix halves = split(draws);
  if (constant(halves)) return 1;
  // Folding around the median sees chains that agree in location but not in spread.
  std::vector<double> values = all_values(halves);
  const double median = quantile(values, 0.5);
  Matrix folded = halves;
  for (double& value : folded.values()) value = std::abs(value - median);
  return std::max(plain_r_hat(rank_normalised(halves)), plain_r_hat(rank_normalised(folded)));
}

double bulk_ess(ConstMatrixView draws) {
  check_draws(draws);
  const Matrix halves = split(draws);
  return constant(halves) ? static_cast<double>(halves.values().size()) : plain_ess(rank_normalised(halves));
}

double tail_ess(ConstMatrixView draws) {
  check_draws(draws);
  return std::min(quantile_ess(draws, 0.05), quantile_ess(draws, 0.95));
}

ChainHealth chain_health(ConstMatrixView draws) { return {r_hat(draws), bulk_ess(draws), tail_ess(draws)}; }

ChainHealth worst(const std::vector<ChainHealth>& parameters) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  ChainHealth result{1, infinity, infinity};
  for (const ChainHealth& health : parameters) {
    result.r_hat = std::max(result.r_hat, health.r_hat);
    result.bulk_ess = std::min(result.bulk_ess, health.bulk_ess);
    result.tail_ess = std::min(result.tail_ess, health.tail_ess);
  }
  return result;
}

}  // namespace catena::sample

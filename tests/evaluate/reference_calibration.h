/// Simulation-based calibration (Talts et al. 2018, docs/refs.bib: talts2018) of references: θ ~ prior, series ~ twin,
/// draws ~ reference; if the reference is exact, the rank of θ among the draws is uniform. Used by the fast and the
/// slow suite.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/evaluate/reference/reference.h"
#include "catena/prior/special.h"
#include "evaluate/reference_twins.h"

namespace catena::evaluate {

struct Calibration {
  std::vector<std::string> quantities;  // theta_1, …, |theta|^2, and log likelihood where it is exact
  std::vector<double> p_values;         // chi-squared, of each quantity
  std::size_t refused = 0;              // references that did not become healthy
  double smallest_p() const { return *std::ranges::min_element(p_values); }
};

/// Settings for many small references: the same sampler, with less asked of each.
inline ReferenceSettings light_settings() {
  ReferenceSettings settings;
  settings.population = 96;
  settings.chains = 16;
  settings.round = 64;
  settings.largest_r_hat = 1.05;
  settings.least_ess = 100;
  return settings;
}

inline constexpr std::size_t calibration_draws = 63;  // ranks 0 … 63: a power of two, so that bins are equally likely

/// P(χ²_k > x)
inline double chi_squared_p(const std::vector<double>& counts) {
  double total = 0, statistic = 0;
  for (const double count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  for (const double count : counts) statistic += (count - expected) * (count - expected) / expected;
  return prior::gamma_tails(0.5 * static_cast<double>(counts.size() - 1), 0.5 * statistic).upper;
}

inline Calibration calibrate(const twins::Twin& twin, std::size_t transitions, std::size_t series_count,
                             std::size_t bins, std::uint64_t seed, const Parallel& parallel) {
  Calibration result;
  for (std::size_t i = 0; i < twin.parameters; ++i) result.quantities.push_back("theta_" + std::to_string(i + 1));
  result.quantities.emplace_back("|theta|^2");
  bool exact = false;
  std::vector<std::vector<std::size_t>> ranks(series_count);
  std::vector<char> refused(series_count, 0);
  const Streams root = Streams(seed).child(twin.name, transitions);
  parallel.for_each(series_count, [&](std::size_t s) {
    Stream stream = root.stream("truth", s);
    const twins::State theta = twins::prior_draw(twin, stream);
    const Matrix series = twins::series(twin, theta, transitions, stream);
    const auto likelihood = twin.likelihood(series);
    const Reference reference = sample_reference(*likelihood, twin.prior(), calibration_draws, light_settings(),
                                                 root.child("reference", s), Parallel(1), silent_progress());
    refused[s] = reference.outcome != Outcome::ok ? 1 : 0;
    const auto quantities_of = [&](std::span<const double> point) {
      std::vector<double> values(point.begin(), point.end());
      double squares = 0;
      for (const double value : point) squares += value * value;
      values.push_back(squares);
      if (likelihood->normals_per_transition() == 0) values.push_back(likelihood->log_likelihood(point));
      return values;
    };
    const std::vector<double> truth = quantities_of(theta);
    ranks[s].assign(truth.size(), 0);
    for (std::size_t k = 0; k < reference.draws.rows(); ++k) {
      const std::vector<double> draw = quantities_of(reference.draws.row(k));
      for (std::size_t i = 0; i < truth.size(); ++i) ranks[s][i] += draw[i] < truth[i] ? 1 : 0;
    }
    if (s == 0) exact = likelihood->normals_per_transition() == 0;
  });
  if (exact) result.quantities.emplace_back("log likelihood");
  for (const char each : refused) result.refused += static_cast<std::size_t>(each);
  for (std::size_t i = 0; i < result.quantities.size(); ++i) {
    std::vector<double> counts(bins, 0.0);
    for (const auto& rank : ranks) counts[rank[i] * bins / (calibration_draws + 1)] += 1;
    result.p_values.push_back(chi_squared_p(counts));
  }
  return result;
}

}  // namespace catena::evaluate

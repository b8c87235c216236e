/// Tempered sequential Monte Carlo: a population carried from the prior to the target through prior × likelihood^β,
/// 0 = β_0 < β_1 < … = 1, reweighted, resampled and moved at each (Del Moral et al. 2006, docs/refs.bib: delmoral2006).
/// Where one reweighting is enough this is sampling-importance-resampling of the prior; it begins spread over the whole
/// prior, so it finds separate modes and their weights. Markov chains start from it: those on any density in z-space
/// (temper_start), and those of exact references (evaluate/reference/start.h), whose points carry more than z.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/outcome.h"
#include "catena/core/progress.h"
#include "catena/core/random.h"
#include "catena/sample/mcmc/start/resampling.h"
#include "catena/sample/mcmc/target.h"

namespace catena::sample {

/// A population whose points are anything that has a likelihood. `stage` counts the temperatures from 0.
///
///   log_likelihoods()            log L of each point, −∞ or NaN where it is impossible
///   resample(weights, β, stage)  puts survivors of these weights in the places of all; their target is at β from now
///   on move(β, stage)               moves every point with the target at β kept; false if too few have moved
template <class P>
concept TemperedPopulation = requires(P& population, std::span<const double> weights, double beta, int stage) {
  { population.log_likelihoods() } -> std::convertible_to<std::span<const double>>;
  population.resample(weights, beta, stage);
  { population.move(beta, stage) } -> std::same_as<bool>;
};

struct TemperingResult {
  Outcome outcome = Outcome::ok;    // diverged: no point of the prior is possible; not_mixed: too few points move
  std::vector<double> betas = {0};  // from 0 to 1
};

/// Carries a population of draws from the prior to the target; each β keeps half of the possible points effective.
template <TemperedPopulation P>
TemperingResult temper(P& population) {
  constexpr int most_temperatures = 1000;
  TemperingResult result;
  for (int stage = 0; result.betas.back() < 1; ++stage) {
    const auto& likelihoods = population.log_likelihoods();
    const bool any_possible = std::ranges::any_of(likelihoods, [](double value) { return std::isfinite(value); });
    if (!any_possible || stage == most_temperatures) {
      result.outcome = Outcome::diverged;
      break;
    }
    const double step = next_tempering_step(likelihoods, 1 - result.betas.back());
    double beta = std::min(1.0, result.betas.back() + step);
    if (1 - beta < 1e-12) beta = 1;
    population.resample(tempering_weights(likelihoods, step), beta, stage);
    if (!population.move(beta, stage)) {
      result.outcome = Outcome::not_mixed;
      break;
    }
    result.betas.push_back(beta);
  }
  return result;
}

struct Start {
  Outcome outcome = Outcome::ok;  // diverged: no point of the prior is possible
  std::vector<double> betas;      // from 0 to 1
  std::vector<Matrix> points;     // the population at each; the order is that of ancestors in the prior
};

/// `moves` random-walk steps at each temperature; `population` points, at least 4.
Start temper_start(const Target& target, std::size_t population, int moves, const Streams& streams, Progress& progress);

/// `n` points of the population, equally spaced, so from all over it; repeated if n is larger.
Matrix pick(const Matrix& population, std::size_t n);

}  // namespace catena::sample

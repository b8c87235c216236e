#include "catena/sample/mcmc/start/tempered_smc.h"

#include <algorithm>
#include <cmath>

#include "catena/sample/mcmc/kernel.h"
#include "catena/sample/mcmc/start/resampling.h"

namespace catena::sample {

namespace {

constexpr int most_temperatures = 1000;

/// log L = log target − log prior, from a density that is tempered by β.
void log_likelihoods(const Chains& chains, double beta, std::span<double> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = (chains.log_density[i] - log_prior(chains.z.row(i))) / beta;
}

}  // namespace

Start temper_start(const Target& target, std::size_t population, int moves, const Streams& streams,
                   Progress& progress) {
  const std::size_t d = target.dimension();
  Chains chains{Matrix(population, d), std::vector<double>(population), {}, {}};
  for (std::size_t i = 0; i < population; ++i) {
    chains.streams.push_back(streams.stream("start", i));
    chains.streams[i].fill_normal(chains.z.row(i));
  }
  Start start{Outcome::ok, {0}, {chains.z}};
  const auto kernel = kernels().at("start", "random_walk").make({.dimension = d, .chains = population});
  std::vector<double> likelihoods(population);
  target.log_density(chains.z, chains.log_density);
  log_likelihoods(chains, 1, likelihoods);
  Stream resampling = streams.stream("resample");
  progress.start("finding the posterior", "densities", 0);
  while (start.betas.back() < 1) {
    const bool any_possible = std::ranges::any_of(likelihoods, [](double value) { return std::isfinite(value); });
    if (!any_possible || start.betas.size() > most_temperatures) {
      start.outcome = Outcome::diverged;
      break;
    }
    const double step = next_tempering_step(likelihoods, 1 - start.betas.back());
    double beta = std::min(1.0, start.betas.back() + step);
    if (1 - beta < 1e-12) beta = 1;
    const Matrix before = chains.z;
    const auto survivors = resample(tempering_weights(likelihoods, step), resampling);
    for (std::size_t i = 0; i < population; ++i) {
      std::ranges::copy(before.row(survivors[i]), chains.z.row(i).begin());
      chains.log_density[i] = beta * likelihoods[survivors[i]] + log_prior(chains.z.row(i));
    }
    const TemperedTarget tempered(target, beta);
    for (int move = 0; move < moves; ++move) {
      kernel->learn(chains.z);
      kernel->adapt(chains, kernel->step(tempered, chains));
      progress.advance(population);
    }
    log_likelihoods(chains, beta, likelihoods);
    start.betas.push_back(beta);
    start.points.push_back(chains.z);
  }
  progress.finish();
  return start;
}

Matrix pick(const Matrix& population, std::size_t n) {
  Matrix result(n, population.cols());
  for (std::size_t i = 0; i < n; ++i) {
    std::ranges::copy(population.row(i * population.rows() / n), result.row(i).begin());
  }
  return result;
}

}  // namespace catena::sample

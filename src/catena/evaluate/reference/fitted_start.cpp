#include "catena/evaluate/reference/fitted_start.h"

#include <algorithm>
#include <atomic>

#include "catena/sample/mcmc/start/laplace.h"
#include "catena/sample/mcmc/start/least_squares.h"

namespace catena::evaluate {

namespace {

constexpr std::size_t few_transitions = 4;  // spread over the series: enough to tell which fits are worth refining
constexpr std::size_t most_fits = 4;        // from the best draws that are apart, in case there are several modes
constexpr double apart = 0.5;               // of the prior's deviation

/// Residuals of `terms` transitions that are spread over all; runs of the simulator are counted.
sample::Residuals residuals_of(const tasks::SeriesLikelihood& likelihood, std::size_t terms,
                               std::atomic<std::uint64_t>& runs, Progress& progress) {
  const std::size_t all = likelihood.transitions();
  return {terms, likelihood.residuals_per_transition(),
          [&likelihood, &runs, &progress, all, terms](std::span<const double> z, std::size_t t, std::span<double> out) {
            ++runs;
            progress.advance(1);
            likelihood.residuals(z, t * all / terms, out);
          }};
}

Matrix means_of(const std::vector<sample::LaplaceMode>& modes, std::size_t d) {
  Matrix means(modes.size(), d);
  for (std::size_t j = 0; j < modes.size(); ++j) std::ranges::copy(modes[j].shape.mean, means.row(j).begin());
  return means;
}

}  // namespace

std::optional<StartingPopulation> fit_population(const ReferenceTarget& target, std::size_t population,
                                                 const Streams& streams, const Parallel& parallel, Progress& progress) {
  const tasks::SeriesLikelihood& likelihood = target.likelihood();
  const std::size_t d = target.dimension(), transitions = likelihood.transitions();
  if (likelihood.residuals_per_transition() == 0 || target.free().size() != d) return std::nullopt;
  progress.start("fitting by least squares", "transitions", 0);
  std::atomic<std::uint64_t> runs = 0;
  const std::size_t few = std::min(transitions, few_transitions);
  const sample::Residuals some = residuals_of(likelihood, few, runs, progress);
  const sample::Residuals all = residuals_of(likelihood, transitions, runs, progress);

  Matrix draws(population, d);
  for (std::size_t i = 0; i < population; ++i) {
    Stream stream = streams.stream("prior", i);
    stream.fill_normal(draws.row(i));
  }
  const std::vector<double> ones(d, 1.0);
  const Matrix best = sample::best_apart(draws, sample::log_densities(some, draws, parallel), ones, apart, most_fits);
  std::vector<sample::LaplaceMode> modes = sample::laplace_modes(sample::least_squares(some, best, parallel));
  if (few < transitions) modes = sample::laplace_modes(sample::least_squares(all, means_of(modes, d), parallel));
  progress.finish();
  if (modes.empty()) return std::nullopt;

  const sample::PointTarget density(
      d, [&](std::span<const double> z) { return sample::log_prior(z) + likelihood.log_likelihood(z); }, parallel);
  const auto points = sample::laplace_population(density, modes, population, streams);
  if (!points) return std::nullopt;
  StartingPopulation result{.states = std::vector<ReferenceState>(population),
                            .start = {Outcome::ok, {0, 1}, {std::move(draws), points->points}},
                            .info = {.evaluations = population + runs / transitions}};
  for (std::size_t i = 0; i < population; ++i) {
    const std::span<const double> z = points->points.row(i);
    result.states[i].theta.assign(z.begin(), z.end());
    result.states[i].log_likelihood = points->log_densities[i] - sample::log_prior(z);
  }
  return result;
}

}  // namespace catena::evaluate

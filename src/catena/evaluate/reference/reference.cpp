// A population is tempered from the prior to the posterior (start.h) or, where that can be done, fitted to it
// (fitted_start.h); some of its points become chains that a kernel of
// their own (kernel.h) moves in the loop of rounds that all Markov chains have (sample/mcmc/chains.h).
//
// `n` of the kept draws are returned, equally spaced in every chain. Spaced by one autocorrelation time τ, draws of an
// AR(1)-like chain still correlate by about e⁻²; two effective draws for each one returned, 2τ, leave e⁻⁴ = 2 %.

#include "catena/evaluate/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/core/check.h"
#include "catena/evaluate/reference/fitted_start.h"
#include "catena/evaluate/reference/kernel.h"
#include "catena/evaluate/reference/start.h"
#include "catena/sample/mcmc/chains.h"

namespace catena::evaluate {

namespace {

Reference draw_closed_form(const tasks::NormalPosterior& posterior, std::size_t n, const Streams& streams) {
  const auto d = posterior.mean.size();
  const Eigen::MatrixXd lower = posterior.covariance.llt().matrixL();
  Reference result;
  result.method = "closed form";
  result.draws = Matrix(n, static_cast<std::size_t>(d));
  for (std::size_t i = 0; i < n; ++i) {
    Stream stream = streams.stream("closed form", i);
    Eigen::VectorXd noise(d);
    for (double& value : noise) value = stream.normal();
    Eigen::Map<Eigen::VectorXd>(result.draws.row(i).data(), d) = posterior.mean + lower * noise;
  }
  const double size = static_cast<double>(n);  // independent draws
  result.health.assign(static_cast<std::size_t>(d), {1, size, size});
  return result;
}

/// How long chains run, in the words of sample/mcmc. No round is shorter than what could reach the wanted size if its
/// draws were independent; so many rounds, each twice as long as the one before, have first · (2^rounds − 1) steps. An
/// eighth of a round is for learning proposals.
sample::McmcSettings chain_settings(const ReferenceSettings& settings, std::size_t n) {
  const double wanted_ess = std::max(settings.least_ess, settings.ess_per_draw * static_cast<double>(n));
  const double first = std::max<double>(settings.round, std::ceil(wanted_ess / settings.chains));
  const double most = first * (std::exp2(settings.rounds) - 1);
  return {.chains = settings.chains,
          .warm_up = settings.round / 8,
          .round = settings.round,
          .most_steps = static_cast<int>(std::min<double>(most, std::numeric_limits<int>::max())),
          .largest_r_hat = settings.largest_r_hat,
          .ess_per_draw = settings.ess_per_draw,
          .least_ess = settings.least_ess};
}

Reference sample_in_z(const tasks::SeriesLikelihood& likelihood, std::size_t n, const ReferenceSettings& settings,
                      const Streams& streams, const Parallel& parallel, Progress& progress) {
  check_config("reference", settings);
  check::at_least("reference", "n", n, std::size_t{1});
  check::that(settings.population >= settings.chains, "reference", "population", settings.population,
              fmt::format("at least {}, the number of chains", settings.chains));
  if (settings.closed_form) {
    if (const auto posterior = likelihood.closed_form_posterior()) return draw_closed_form(*posterior, n, streams);
  }
  const ReferenceTarget target(likelihood);
  const auto points = static_cast<std::size_t>(settings.population);
  std::optional<StartingPopulation> fitted = fit_population(target, points, streams.child("fit"), parallel, progress);
  StartingPopulation population =
      fitted ? std::move(*fitted)
             : temper_population(target, points, settings.moves, streams.child("start"), parallel, progress);
  MoveInfo moves = population.info;
  sample::GivenChains given{std::move(population.start), reference_kernel(target, population.states, parallel, moves)};
  sample::McmcDraws draws =
      sample::mcmc_sample(target, std::move(given), n, chain_settings(settings, n), streams, parallel, progress);
  return {.outcome = draws.info.outcome,
          .draws = std::move(draws.z),
          .health = std::move(draws.info.health),
          .method = "mcmc",
          .start = fitted ? "least squares" : "tempering",
          .evaluations = moves.evaluations,
          .acceptance = draws.info.acceptance,
          .temperatures = static_cast<int>(draws.info.temperatures)};
}

}  // namespace

Reference sample_reference(const tasks::SeriesLikelihood& likelihood, const prior::Prior& prior, std::size_t n,
                           const ReferenceSettings& settings, const Streams& streams, const Parallel& parallel,
                           Progress& progress) {
  const auto in_z = tasks::likelihood_in_z(likelihood, prior);
  Reference reference = sample_in_z(*in_z, n, settings, streams, parallel, progress);
  for (std::size_t r = 0; r < reference.draws.rows(); ++r) {
    const std::vector<double> z(reference.draws.row(r).begin(), reference.draws.row(r).end());
    prior.to_theta(z, reference.draws.row(r));
  }
  return reference;
}

}  // namespace catena::evaluate

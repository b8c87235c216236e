// A population is tempered from the prior to the posterior (start.h); some of its points become chains
// (chain.h). A round runs all chains with fixed proposals, learned from the round before it; if its draws are
// healthy they are the reference, and if not the round was the warm-up of the next one, which is twice as long and
// keeps every second of its draws, so that the number of draws stays what it was while their correlation falls.
//
// `n` of the kept draws are returned, equally spaced in every chain. Spaced by one autocorrelation time τ, draws of an
// AR(1)-like chain still correlate by about e⁻²; two effective draws for each one returned, 2τ, leave e⁻⁴ = 2 %.

#include "catena/evaluate/reference/reference.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/evaluate/reference/chain.h"
#include "catena/evaluate/reference/start.h"
#include "catena/sample/mcmc/traces.h"

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

Matrix cloud_from(const ReferenceTarget& target, const sample::Traces& traces) {
  const std::size_t size = std::min(sample::largest_cloud, traces[0].rows() * traces[0].cols());
  const Matrix draws = sample::thin(traces, size);
  Matrix cloud(size, target.free().size());
  for (std::size_t r = 0; r < size; ++r) {
    for (std::size_t i = 0; i < cloud.cols(); ++i) cloud(r, i) = draws(r, target.free()[i]);
  }
  return cloud;
}

}  // namespace

Reference sample_reference(const tasks::SeriesLikelihood& likelihood, std::size_t n, const ReferenceSettings& settings,
                           const Streams& streams, const Parallel& parallel, Progress& progress) {
  check_config("reference", settings);
  check::at_least("reference", "n", n, std::size_t{1});
  check::that(settings.population >= settings.chains, "reference", "population", settings.population,
              fmt::format("at least {}, the number of chains", settings.chains));
  if (settings.closed_form) {
    if (const auto posterior = likelihood.closed_form_posterior()) return draw_closed_form(*posterior, n, streams);
  }
  const auto chain_count = static_cast<std::size_t>(settings.chains);
  const auto population = static_cast<std::size_t>(settings.population);
  const ReferenceTarget target(likelihood);
  StartingPopulation start =
      temper_population(target, population, settings.moves, streams.child("start"), parallel, progress);
  Reference result;
  result.method = "mcmc";
  result.evaluations = start.info.evaluations;
  result.temperatures = start.temperatures;
  if (start.outcome != Outcome::ok) {
    result.outcome = start.outcome;
    return result;
  }
  // Chains from all over the population; the order of its points is that of their ancestors in the prior.
  std::vector<ReferenceState> chains;
  std::vector<Stream> chain_streams;
  for (std::size_t c = 0; c < chain_count; ++c) {
    chains.push_back(start.states[c * population / chain_count]);
    chain_streams.push_back(streams.stream("chain", c));
  }
  sample::CloudProposals proposals(cloud_of(target, start.states), sample::usual_modes);
  const double wanted_ess = std::max(settings.least_ess, settings.ess_per_draw * static_cast<double>(n));
  // No round is kept that could not reach the wanted size even if its draws were independent.
  const std::size_t kept = std::max(static_cast<std::size_t>(settings.round),
                                    static_cast<std::size_t>(std::ceil(wanted_ess / settings.chains)));
  sample::Traces traces(likelihood.parameters(), Matrix(chain_count, kept));
  for (int round = 0; round < settings.rounds; ++round) {
    const std::size_t stride = std::size_t{1} << round;
    progress.start("sampling", "draws", kept * chain_count);
    std::vector<MoveInfo> infos(chain_count);
    parallel.for_each(chain_count, [&](std::size_t c) {
      for (std::size_t k = 0; k < kept; ++k) {
        for (std::size_t s = 0; s < stride; ++s) {
          infos[c].add(chain_step(target, proposals, chains[c], chain_streams[c]));
        }
        for (std::size_t i = 0; i < traces.size(); ++i) traces[i](c, k) = chains[c].theta[i];
        if (progress.stop_requested()) break;
      }
      progress.advance(kept);
    });
    progress.finish();
    MoveInfo info;
    for (const MoveInfo& each : infos) info.add(each);
    result.evaluations += info.evaluations;
    result.acceptance = static_cast<double>(info.accepted) / static_cast<double>(info.proposed);
    result.rounds = round + 1;
    result.health = sample::health_of(traces, parallel);
    const sample::ChainHealth health = sample::worst(result.health);
    const bool healthy =
        health.r_hat <= settings.largest_r_hat && std::min(health.bulk_ess, health.tail_ess) >= wanted_ess;
    result.outcome = healthy ? Outcome::ok : Outcome::not_mixed;
    if (healthy) break;
    if (round + 1 < settings.rounds)
      proposals = sample::CloudProposals(cloud_from(target, traces), sample::usual_modes);
  }
  result.draws = sample::thin(traces, n);
  return result;
}

}  // namespace catena::evaluate

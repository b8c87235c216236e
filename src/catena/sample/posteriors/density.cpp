#include "catena/sample/posteriors/density.h"

#include <algorithm>

#include "catena/core/errors.h"

namespace catena::sample {

void DensityTarget::log_density(ConstMatrixView z, std::span<double> out) const {
  density_->evaluate(z, out, {});
  for (std::size_t i = 0; i < z.rows; ++i) out[i] += log_prior(z.row(i));
}

void DensityTarget::log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
  density_->evaluate(z, out, gradient);
  for (std::size_t i = 0; i < z.rows; ++i) {
    out[i] += log_prior(z.row(i));
    for (std::size_t f = 0; f < z.cols; ++f) gradient(i, f) -= z(i, f);
  }
}

std::unique_ptr<Target> DensityTarget::thinned(std::size_t terms) const {
  if (!make_) return nullptr;
  compose::ObservedSeries some = compose::thinned(*observed_, terms);
  some.companions = observed_->companions;  // few by themselves
  return std::make_unique<DensityTarget>(make_(some));
}

nlohmann::json chains_info(const McmcInfo& info) {
  const ChainHealth health = info.health.empty() ? ChainHealth{} : worst(info.health);
  return {{"kernel", info.kernel},
          {"chains", info.chains},
          {"steps", info.steps},
          {"stride", info.stride},
          {"r_hat", health.r_hat},
          {"bulk_ess", health.bulk_ess},
          {"tail_ess", health.tail_ess},
          {"acceptance", info.acceptance},
          {"step_size", info.step_size},
          {"evaluations", info.evaluations},
          {"gradients", info.gradients},
          {"not_finite", info.not_finite},
          {"divergences", info.divergences},
          {"temperatures", info.temperatures},
          {"thinned_evaluations", info.thinned_evaluations},
          {"seconds", {{"sample", info.seconds}}}};
}

PosteriorDraws draw_by_chains(const Target& target, const PosteriorRequest& request, const Streams& streams,
                              const Parallel& parallel, Progress& progress) {
  const auto settings = mcmc_settings_from(request.settings);
  McmcDraws draws = mcmc_sample(target, request.draws, settings, streams.child("mcmc"), parallel, progress);
  if (draws.z.rows() == 0) {
    throw InputError(
        "sample: chains have nowhere to start, for the density is finite at no point of the prior or grows without "
        "bound; the model must be trained on transitions like the observed ones");
  }
  PosteriorDraws result;
  result.outcome = draws.info.outcome;
  result.info = chains_info(draws.info);
  result.info["settings"] = mcmc_settings_json(settings);
  ChainDraws chains = thin_by_chain(draws.traces, request.draws);
  result.z = std::move(chains.z);
  result.chains = chains.chains;
  result.health = std::move(draws.info.health);
  return result;
}

}  // namespace catena::sample

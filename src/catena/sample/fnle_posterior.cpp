#include "catena/sample/fnle_posterior.h"

namespace catena::sample {

void DensityTarget::log_density(ConstMatrixView z, std::span<double> out) const {
  likelihoods_.front()->evaluate(z, out, {});
  std::vector<double> more(likelihoods_.size() > 1 ? z.rows : 0);
  for (std::size_t k = 1; k < likelihoods_.size(); ++k) {
    likelihoods_[k]->evaluate(z, more, {});
    for (std::size_t i = 0; i < z.rows; ++i) out[i] += more[i];
  }
  for (std::size_t i = 0; i < z.rows; ++i) out[i] += log_prior(z.row(i));
}

void DensityTarget::log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const {
  likelihoods_.front()->evaluate(z, out, gradient);
  const bool several = likelihoods_.size() > 1;
  std::vector<double> more(several ? z.rows : 0);
  Matrix slope(several ? z.rows : 0, z.cols);
  for (std::size_t k = 1; k < likelihoods_.size(); ++k) {
    likelihoods_[k]->evaluate(z, more, slope);
    for (std::size_t i = 0; i < z.rows; ++i) {
      out[i] += more[i];
      for (std::size_t f = 0; f < z.cols; ++f) gradient(i, f) += slope(i, f);
    }
  }
  for (std::size_t i = 0; i < z.rows; ++i) {
    out[i] += log_prior(z.row(i));
    for (std::size_t f = 0; f < z.cols; ++f) gradient(i, f) -= z(i, f);
  }
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
          {"seconds", {{"sample", info.seconds}}}};
}

namespace {

std::unique_ptr<Target> target(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                               const Parallel& parallel) {
  auto result = std::make_unique<DensityTarget>(train::DensityModel(request.model), observed, parallel);
  for (std::size_t k = 0; k < observed.companions.size(); ++k) {
    if (observed.companions[k].transitions() == 0) continue;
    result->add(train::DensityModel(*request.companions[k]), observed.companions[k], parallel);
  }
  return result;
}

PosteriorDraws draw_by_chains(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                              const Streams& streams, const Parallel& parallel, Progress& progress) {
  const auto settings = from_json<McmcSettings>("sample", request.settings);
  McmcDraws draws = mcmc_sample(*target(request, observed, parallel), request.draws, settings, streams.child("mcmc"),
                                parallel, progress);
  PosteriorDraws result;
  result.outcome = draws.info.outcome;
  result.info = chains_info(draws.info);
  result.info["settings"] = to_json(settings);
  result.z = std::move(draws.z);
  return result;
}

}  // namespace

PosteriorSampler fnle_posterior_sampler() {
  return {.name = "fnle",
          .settings = describe_fields<McmcSettings>(),
          .draw = draw_by_chains,
          .joins = true,
          .target = target};
}

}  // namespace catena::sample

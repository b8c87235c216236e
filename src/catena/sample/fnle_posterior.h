/// Draws from density models: log N(z; 0, I) + Σ_t log q(x^(t+1) | x^t, z) by Markov chains.
#pragma once

#include <memory>
#include <vector>

#include "catena/compose/series_likelihood.h"
#include "catena/sample/chains.h"
#include "catena/sample/posterior.h"

namespace catena::sample {

/// The posterior in z-space of a series by a trained density and its companions.
class DensityTarget final : public Target {
 public:
  DensityTarget(const train::DensityModel& model, const compose::ObservedSeries& observed, const Parallel& parallel) {
    add(model, observed, parallel);
  }
  /// The likelihood of other records of the same θ, by a model of their own.
  void add(const train::DensityModel& model, const compose::ObservedSeries& observed, const Parallel& parallel) {
    likelihoods_.push_back(std::make_unique<compose::SeriesLikelihood>(model, observed, parallel));
  }

  std::size_t dimension() const override { return likelihoods_.front()->dimension(); }
  bool has_gradient() const override { return true; }
  void log_density(ConstMatrixView z, std::span<double> out) const override;
  void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override;

 private:
  std::vector<std::unique_ptr<compose::SeriesLikelihood>> likelihoods_;
};

PosteriorSampler fnle_posterior_sampler();

/// What a report needs of a run of chains: kernel, R-hat, effective sample sizes, evaluations. Sentences of advice are
/// those of the outcome.
nlohmann::json chains_info(const McmcInfo& info);

}  // namespace catena::sample

/// Draws from density models: log N(z; 0, I) + Σ_t log q(x^(t+1) | x^t, z) by Markov chains.
#pragma once

#include "catena/compose/series_likelihood.h"
#include "catena/sample/chains.h"
#include "catena/sample/posterior.h"

namespace catena::sample {

/// The posterior in z-space of a series by a trained density.
class DensityTarget final : public Target {
 public:
  /// Both must outlive it.
  DensityTarget(const train::TrainedModel& model, const compose::ObservedSeries& observed, const Parallel& parallel)
      : model_(model),
        observed_(observed),
        parallel_(parallel),
        likelihood_(train::DensityModel(model), observed, parallel) {}

  std::size_t dimension() const override { return likelihood_.dimension(); }
  bool has_gradient() const override { return true; }
  void log_density(ConstMatrixView z, std::span<double> out) const override;
  void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override;
  std::size_t terms() const override { return likelihood_.transitions(); }
  std::unique_ptr<Target> thinned(std::size_t terms) const override;

 private:
  const train::TrainedModel& model_;
  const compose::ObservedSeries& observed_;
  Parallel parallel_;
  compose::SeriesLikelihood likelihood_;
};

PosteriorSampler fnle_posterior_sampler();

/// What a report needs of a run of chains: kernel, R-hat, effective sample sizes, evaluations. Sentences of advice are
/// those of the outcome.
nlohmann::json chains_info(const McmcInfo& info);

}  // namespace catena::sample

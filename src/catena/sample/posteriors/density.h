/// Draws from whatever has a log density of the whole series: log N(z; 0, I) + log density by Markov chains. The
/// methods fnle and fnre differ in the density only.
#pragma once

#include <functional>
#include <memory>

#include "catena/compose/density/series_density.h"
#include "catena/compose/observed_series.h"
#include "catena/sample/mcmc/chains.h"
#include "catena/sample/posterior.h"

namespace catena::sample {

/// The posterior in z-space of a series.
class DensityTarget final : public Target {
 public:
  explicit DensityTarget(std::unique_ptr<const compose::SeriesDensity> density) : density_(std::move(density)) {}
  /// `make` makes the density of a series or of some of its transitions. `observed` must outlive the target.
  using Make = std::function<std::unique_ptr<const compose::SeriesDensity>(const compose::ObservedSeries&)>;
  DensityTarget(const compose::ObservedSeries& observed, Make make)
      : density_(make(observed)), observed_(&observed), make_(std::move(make)) {}

  std::size_t dimension() const override { return density_->dimension(); }
  bool has_gradient() const override { return true; }
  void log_density(ConstMatrixView z, std::span<double> out) const override;
  void log_density_and_gradient(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override;
  std::size_t terms() const override { return observed_ != nullptr ? observed_->transitions() : 1; }
  bool costs_grow() const override { return density_->costs_grow(); }
  std::unique_ptr<Target> thinned(std::size_t terms) const override;

 private:
  std::unique_ptr<const compose::SeriesDensity> density_;
  const compose::ObservedSeries* observed_ = nullptr;
  Make make_;
};

/// What a report needs of a run of chains: kernel, R-hat, effective sample sizes, evaluations. Sentences of advice are
/// those of the outcome.
nlohmann::json chains_info(const McmcInfo& info);

/// `request.settings` are McmcSettings.
PosteriorDraws draw_by_chains(const Target& target, const PosteriorRequest& request, const Streams& streams,
                              const Parallel& parallel, Progress& progress);

}  // namespace catena::sample

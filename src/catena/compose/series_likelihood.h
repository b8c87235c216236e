/// The log likelihood of a whole series by a trained density, Σ_t log q(x^(t+1) | x^t, z), for many z at once with
/// gradients: what Markov chains sample together with the prior.
#pragma once

#include "catena/compose/observed_series.h"
#include "catena/compose/series_sum.h"
#include "catena/train/fnle.h"

namespace catena::compose {

class SeriesLikelihood final : public SeriesDensity {
 public:
  SeriesLikelihood(const train::DensityModel& model, const ObservedSeries& series, Parallel parallel);

  std::size_t dimension() const override { return sum_.dimension(); }
  std::size_t transitions() const { return transitions_; }
  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override;

 private:
  std::size_t transitions_;
  double constant_;  // from densities of v, without ½ log 2π, to those of x^(t+1)
  SeriesSum sum_;
};

}  // namespace catena::compose

/// What a trained model says about a whole series as a function of z: a log density up to a constant, without the
/// prior. Likelihoods (series_likelihood.h) and ratios (series_ratio.h) are such; Markov chains sample it with the
/// prior.
#pragma once

#include <cstddef>
#include <span>

#include "catena/core/array.h"

namespace catena::compose {

class SeriesDensity {
 public:
  virtual ~SeriesDensity() = default;
  virtual std::size_t dimension() const = 0;
  /// Whether a point costs more for a longer series.
  virtual bool costs_grow() const { return true; }

  /// out[i] = Σ_t of row i of z; its gradient in row i of `gradient` unless that is empty. One call at a time; results
  /// depend neither on the number of threads nor on the other rows.
  virtual void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const = 0;
};

}  // namespace catena::compose

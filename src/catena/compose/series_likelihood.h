/// The log likelihood of a whole series by a trained density, Σ_t log q(x^(t+1) | x^t, z), for many z at once with
/// gradients: what Markov chains sample together with the prior.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "catena/compose/observed_series.h"
#include "catena/core/parallel.h"
#include "catena/nn/execute.h"
#include "catena/train/fnle.h"

namespace catena::compose {

/// Lanes are chains × transitions: a block holds as many whole chains as fit, or a part of a long series. What depends
/// on the series alone is computed when a block's transitions are loaded, what depends on z alone once for a chain and
/// block. Densities are summed in double (gradients in float within a block of 128 lanes), in the order of the
/// transitions, so that results do not depend on the number of threads. For one call at a time.
class SeriesLikelihood {
 public:
  SeriesLikelihood(const train::DensityModel& model, const ObservedSeries& series, Parallel parallel);
  ~SeriesLikelihood();

  std::size_t dimension() const { return shape_.parameters; }
  std::size_t transitions() const { return transitions_; }

  /// out[i] = log likelihood of the series for row i of z; its gradient in row i of `gradient` unless that is empty.
  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const;

 private:
  struct Worker;
  void load(Worker& worker, std::size_t part) const;
  std::size_t part_begin(std::size_t part) const { return part * transitions_ / parts_; }

  train::DensityShape shape_;
  std::size_t transitions_, parts_, chains_per_block_;
  train::DensityGraph density_;  // z shared by the transitions of a chain
  AlignedVector<float> weights_;
  Parallel parallel_;
  Matrix state_, v_, atom_, keep_;  // one transition a row
  double constant_ = 0;             // from densities of v, without ½ log 2π, to those of x^(t+1)
  mutable std::vector<std::unique_ptr<Worker>> plain_, with_gradient_;  // one per thread
};

}  // namespace catena::compose

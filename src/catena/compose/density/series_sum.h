/// Σ_t of a network's value over the transitions of a series, for many z at once with gradients: what likelihoods and
/// joint ratios of a series have in common.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catena/compose/density/series_density.h"
#include "catena/core/parallel.h"
#include "catena/model/weights.h"
#include "catena/nn/execute.h"

namespace catena::compose {

/// A recorded network of z and one transition.
struct TransitionNetwork {
  nn::Graph graph;
  nn::Value z;  // the graph's first input, on the lanes of SeriesSum::z_lanes()
  nn::Value value;
  double factor = 1;  // the sum is of factor · value
  /// The other inputs, one transition a row.
  struct Input {
    nn::Value value;
    Matrix rows;
  };
  std::vector<Input> inputs = {};
};

/// Lanes are chains × transitions: a block holds as many whole chains as fit, or a part of a long series. What depends
/// on the series alone is computed when a block's transitions are loaded, what depends on z alone once for a chain and
/// block. Values are summed in double (gradients in float within a block of 128 lanes), in the order of the
/// transitions, so that results do not depend on the number of threads. For one call at a time.
class SeriesSum final : public SeriesDensity {
 public:
  /// How z must be recorded for a series of so many transitions: shared by the transitions of a chain.
  static nn::Lanes z_lanes(std::size_t transitions);

  SeriesSum(TransitionNetwork network, const model::NamedWeights& weights, const std::string& source,
            std::size_t transitions, Parallel parallel);
  ~SeriesSum() override;

  std::size_t dimension() const override { return network_.graph.features(network_.z); }
  void evaluate(ConstMatrixView z, std::span<double> out, MatrixView gradient) const override;

 private:
  struct Worker;
  void load(Worker& worker, std::size_t part) const;
  std::size_t part_begin(std::size_t part) const { return part * transitions_ / parts_; }

  std::size_t transitions_, parts_, chains_per_block_;
  TransitionNetwork network_;
  AlignedVector<float> weights_;
  Parallel parallel_;
  mutable std::vector<std::unique_ptr<Worker>> plain_, with_gradient_;  // one per thread
};

}  // namespace catena::compose

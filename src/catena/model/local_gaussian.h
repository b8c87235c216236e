/// A Gaussian for the local posterior p(z | x^t, x^(t+1)), amortised: a small network gives its mean and precision for
/// any transition in one pass. Its likelihood is largest where mean and covariance are those of the posterior, so this
/// replaces hundreds of local draws per transition for the rule `gauss`.
#pragma once

#include "catena/core/array.h"
#include "catena/model/weights.h"
#include "catena/nn/graph.h"
#include "catena/nn/workspace_pool.h"

namespace catena::model {

struct LocalGaussianGraph {
  nn::Graph graph;
  nn::Value condition, parameters;
};
LocalGaussianGraph record_local_gaussian(int width, std::size_t parameters, std::size_t features);

/// The trained network, ready for use from many threads.
class LocalGaussianNetwork {
 public:
  LocalGaussianNetwork(int width, const NamedWeights& weights, const std::string& source, std::size_t parameters,
                       std::size_t features);

  std::size_t parameters() const { return parameters_; }
  /// What it gives for the lanes of a block of features (nn/gaussian.h), into `outputs`.
  void evaluate(ConstBlock c, Block outputs) const;
  /// The same for rows of features, one transition a row.
  Matrix evaluate(ConstMatrixView c) const;

 private:
  std::size_t parameters_;
  LocalGaussianGraph network_;
  AlignedVector<float> weights_;
  mutable nn::WorkspacePool pool_;
};

/// The precision C of the local posterior, one transition a row: d·d numbers. `c` has one row of features each.
Matrix local_gaussian_precisions(int width, const NamedWeights& weights, const std::string& source,
                                 std::size_t parameters, ConstMatrixView c);

}  // namespace catena::model

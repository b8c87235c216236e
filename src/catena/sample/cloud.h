/// Proposals of Markov chains that are learned from a cloud of earlier points and stay fixed while the chains run.
/// Used by the kernel `cloud` and by the chains of exact references (evaluate/reference_chain.h).
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <span>

#include "catena/core/array.h"
#include "catena/core/random.h"

namespace catena::sample {

/// Roberts et al. (1997, docs/refs.bib: roberts1997): 2.38/√d standard deviations is the best step of a random walk on
/// a Gaussian; √2 less for a difference of two points.
inline constexpr double best_walk_scale = 2.38;

/// A cloud of at most this many points is as good as a larger one.
inline constexpr std::size_t largest_cloud = 4096;

/// Mean and covariance LLᵀ of a cloud of points, one a row, of which there are at least two. The share of the
/// off-diagonal that is kept is 1 − shrink. L has a positive diagonal even for a cloud that collapsed.
struct CloudShape {
  explicit CloudShape(ConstMatrixView points, double shrink = 0);

  Eigen::VectorXd mean;
  Eigen::MatrixXd lower;  // L
};

class CloudProposals {
 public:
  explicit CloudProposals(Matrix cloud);

  /// θ + scale · L ε, LLᵀ the cloud's covariance.
  void random_walk(std::span<double> point, double scale, Stream& stream) const;
  /// θ + scale · (z_a − z_b) for two points of the cloud (ter Braak and Vrugt 2008, docs/refs.bib: terbraak2008).
  void difference(std::span<double> point, double scale, Stream& stream) const;
  /// A draw from the multivariate t with the cloud's mean and covariance, and its log density up to a constant.
  void independent(std::span<double> point, Stream& stream) const;
  double log_independent(std::span<const double> point) const;

  /// One of the three, all of which are needed: a random walk of a random scale, since posteriors have narrow places;
  /// a difference, now and then the whole of it, since that leads from mode to mode; an independent draw. Returns
  /// log q(θ | θ') − log q(θ' | θ).
  double propose(std::span<double> point, Stream& stream) const;

 private:
  Matrix cloud_;
  CloudShape shape_;
};

}  // namespace catena::sample

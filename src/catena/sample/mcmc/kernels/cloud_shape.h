/// Mean and covariance of a cloud of points, as proposals of Markov chains use them.
#pragma once

#include <Eigen/Dense>

#include "catena/core/array.h"

namespace catena::sample {

/// Mean and covariance LLᵀ. L has a positive diagonal even for a cloud that collapsed onto a few points.
struct CloudShape {
  /// Of points, one a row, of which there are at least two. The share of the off-diagonal that is kept is 1 − shrink.
  explicit CloudShape(ConstMatrixView points, double shrink = 0);
  CloudShape(Eigen::VectorXd centre, Eigen::MatrixXd covariance);

  double log_volume() const { return lower.diagonal().array().log().sum(); }  ///< log det L

  Eigen::VectorXd mean;
  Eigen::MatrixXd lower;  // L
};

}  // namespace catena::sample

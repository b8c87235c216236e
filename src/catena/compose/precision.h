/// The precision Λ of the series and its repair, shared by the rules `gauss` and `jac`.
#pragma once

#include <Eigen/Core>

#include "catena/compose/scores/local_scores.h"
#include "catena/compose/scores/series_score.h"
#include "catena/core/outcome.h"

namespace catena::compose {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixMap = Eigen::Map<RowMajorMatrix, 0, Eigen::OuterStride<>>;
using ConstMatrixMap = Eigen::Map<const RowMajorMatrix, 0, Eigen::OuterStride<>>;

MatrixMap map(MatrixView view);
ConstMatrixMap map(ConstMatrixView view);

/// Eigenvectors and ascending eigenvalues of a symmetric, finite matrix.
PosteriorShape eigen(const Eigen::MatrixXd& symmetric);

/// The smallest positive semidefinite matrix whose addition lifts every eigenvalue to at least `floor`:
/// Λ = V A Vᵀ gives Λ₋ = V max(floor − A, 0) Vᵀ. A Λ that is healthy stays as it is, to the last bit.
struct Repair {
  Outcome outcome = Outcome::ok;  // not_positive_definite: the matrix has values that are not finite
  Eigen::MatrixXd adjustment;     // Λ₋
  PosteriorShape repaired;        // eigenvectors and eigenvalues of Λ + Λ₋
  double largest = 0;             // largest eigenvalue of Λ₋
};
Repair repair(const Eigen::MatrixXd& lambda, double floor);

/// Σ_t C_t − (T−1) I: the precision of the series at a = 0, before repair.
Eigen::MatrixXd series_precision(const LocalPrecisions& precisions, std::size_t dimension);

}  // namespace catena::compose

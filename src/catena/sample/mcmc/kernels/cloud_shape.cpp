#include "catena/sample/mcmc/kernels/cloud_shape.h"

#include "catena/core/check.h"

namespace catena::sample {

namespace {

Eigen::MatrixXd factor(Eigen::MatrixXd covariance) {
  // A cloud that collapsed onto a few points still gives a proposal: never less than 1e-6 of each standard deviation's
  // square (and of 1e-20, if even that is zero) in any direction.
  covariance.diagonal() *= 1 + 1e-6;
  covariance.diagonal().array() += 1e-20;
  const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance);
  if (cholesky.info() == Eigen::Success) return cholesky.matrixL();
  return covariance.diagonal().cwiseSqrt().asDiagonal();
}

}  // namespace

CloudShape::CloudShape(ConstMatrixView points, double shrink) {
  CATENA_ASSERT(points.rows >= 2 && points.contiguous());
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto rows = static_cast<Eigen::Index>(points.rows), cols = static_cast<Eigen::Index>(points.cols);
  const Eigen::Map<const RowMajor> matrix(points.data, rows, cols);
  mean = matrix.colwise().mean().transpose();
  const Eigen::MatrixXd centred = matrix.rowwise() - mean.transpose();
  Eigen::MatrixXd covariance = centred.transpose() * centred / static_cast<double>(rows - 1);
  if (shrink > 0) {
    const Eigen::VectorXd diagonal = covariance.diagonal();
    covariance *= 1 - shrink;
    covariance.diagonal() = diagonal;
  }
  lower = factor(std::move(covariance));
}

CloudShape::CloudShape(Eigen::VectorXd centre, Eigen::MatrixXd covariance)
    : mean(std::move(centre)), lower(factor(std::move(covariance))) {}

}  // namespace catena::sample

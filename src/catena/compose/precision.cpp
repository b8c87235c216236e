#include "catena/compose/precision.h"

#include <Eigen/Eigenvalues>

namespace catena::compose {

MatrixMap map(MatrixView v) {
  return {v.data, static_cast<Eigen::Index>(v.rows), static_cast<Eigen::Index>(v.cols),
          Eigen::OuterStride<>(static_cast<Eigen::Index>(v.stride))};
}

ConstMatrixMap map(ConstMatrixView v) {
  return {v.data, static_cast<Eigen::Index>(v.rows), static_cast<Eigen::Index>(v.cols),
          Eigen::OuterStride<>(static_cast<Eigen::Index>(v.stride))};
}

PosteriorShape eigen(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
  return {solver.eigenvectors(), solver.eigenvalues()};
}

Repair repair(const Eigen::MatrixXd& lambda, double floor) {
  Repair result;
  if (!lambda.allFinite()) {
    result.outcome = Outcome::not_positive_definite;
    return result;
  }
  result.repaired = eigen(lambda);
  const Eigen::VectorXd lift = (floor - result.repaired.precisions.array()).max(0.0);
  result.adjustment = result.repaired.axes * lift.asDiagonal() * result.repaired.axes.transpose();
  result.repaired.precisions += lift;
  result.largest = lift.maxCoeff();
  return result;
}

Eigen::MatrixXd series_precision(const LocalPrecisions& precisions, std::size_t dimension) {
  const auto d = static_cast<Eigen::Index>(dimension);
  Eigen::MatrixXd sum = -(static_cast<double>(precisions.rows()) - 1) * Eigen::MatrixXd::Identity(d, d);
  const ConstMatrixMap rows = map(precisions.view());
  const Eigen::VectorXd total = rows.colwise().sum();
  if (precisions.cols() == dimension) {
    sum.diagonal() += total;
  } else {
    sum += Eigen::Map<const Eigen::MatrixXd>(total.data(), d, d);
  }
  return 0.5 * (sum + sum.transpose());
}

}  // namespace catena::compose

#include "catena/sample/cloud.h"

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"

namespace catena::sample {

namespace {

constexpr double t_freedom = 5;  // tails heavier than the posterior's, yet with a variance

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
  // A cloud that collapsed onto a few points still gives a proposal: never less than 1e-6 of each standard deviation's
  // square (and of 1e-20, if even that is zero) in any direction.
  covariance.diagonal() *= 1 + 1e-6;
  covariance.diagonal().array() += 1e-20;
  const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance);
  if (cholesky.info() == Eigen::Success) {
    lower = cholesky.matrixL();
  } else {
    lower = covariance.diagonal().cwiseSqrt().asDiagonal();
  }
}

CloudProposals::CloudProposals(Matrix cloud) : cloud_(std::move(cloud)), shape_(cloud_) {}

void CloudProposals::random_walk(std::span<double> point, double scale, Stream& stream) const {
  const auto d = static_cast<Eigen::Index>(point.size());
  Eigen::VectorXd noise(d);
  for (double& value : noise) value = scale * stream.normal();
  Eigen::Map<Eigen::VectorXd>(point.data(), d) += shape_.lower.triangularView<Eigen::Lower>() * noise;
}

void CloudProposals::difference(std::span<double> point, double scale, Stream& stream) const {
  const std::size_t a = stream.integer(cloud_.rows()), b = stream.integer(cloud_.rows());
  for (std::size_t i = 0; i < point.size(); ++i) point[i] += scale * (cloud_(a, i) - cloud_(b, i));
  // A little noise, so that the chain can reach every point and not only a lattice.
  random_walk(point, 0.02, stream);
}

void CloudProposals::independent(std::span<double> point, Stream& stream) const {
  std::copy(shape_.mean.begin(), shape_.mean.end(), point.begin());
  random_walk(point, 1 / std::sqrt(stream.gamma(t_freedom / 2) * 2 / t_freedom), stream);
}

double CloudProposals::log_independent(std::span<const double> point) const {
  const auto d = static_cast<Eigen::Index>(point.size());
  const Eigen::VectorXd centred = Eigen::Map<const Eigen::VectorXd>(point.data(), d) - shape_.mean;
  const double squared = shape_.lower.triangularView<Eigen::Lower>().solve(centred).squaredNorm();
  return -0.5 * (t_freedom + static_cast<double>(d)) * std::log1p(squared / t_freedom);
}

double CloudProposals::propose(std::span<double> point, Stream& stream) const {
  const double best = best_walk_scale / std::sqrt(static_cast<double>(point.size()));
  switch (stream.integer(4)) {
    case 0:  // scales from 1.5 times the best one down to a tenth of it
      random_walk(point, best * std::exp(0.4 - 2.7 * stream.uniform()), stream);
      return 0;
    case 1:
      difference(point, stream.integer(5) == 0 ? 1 : best / std::sqrt(2.0), stream);
      return 0;
    default:
      const double here = log_independent(point);
      independent(point, stream);
      return here - log_independent(point);
  }
}

}  // namespace catena::sample

#include "catena/sample/mcmc/kernels/mass_matrix.h"

#include <algorithm>

#include "catena/sample/mcmc/kernels/cloud_proposals.h"

namespace catena::sample {

namespace {

using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;

Eigen::Index length(std::span<const double> values) { return static_cast<Eigen::Index>(values.size()); }

}  // namespace

Metric::Metric(std::size_t dimension) : deviations_(Eigen::VectorXd::Ones(static_cast<Eigen::Index>(dimension))) {}

Metric::Metric(ConstMatrixView points, bool dense) {
  const double n = static_cast<double>(points.rows), doubt = static_cast<double>(points.cols);
  const CloudShape shape(points, dense ? doubt / (n + doubt) : 1);
  deviations_ = shape.lower.diagonal();
  if (dense) lower_ = shape.lower;
}

void Metric::stretch(std::span<const double> u, std::span<double> out) const {
  const ConstVector from(u.data(), length(u));
  Vector to(out.data(), length(out));
  if (lower_.size() == 0) {
    to = deviations_.cwiseProduct(from);
  } else {
    to.noalias() = lower_.triangularView<Eigen::Lower>() * from;
  }
}

void Metric::pull_back(std::span<const double> gradient, std::span<double> out) const {
  const ConstVector from(gradient.data(), length(gradient));
  Vector to(out.data(), length(out));
  if (lower_.size() == 0) {
    to = deviations_.cwiseProduct(from);
  } else {
    to.noalias() = lower_.transpose().triangularView<Eigen::Upper>() * from;
  }
}

void Metric::along(std::size_t axis, double scale, std::span<double> out) const {
  const auto column = static_cast<Eigen::Index>(axis);
  if (lower_.size() == 0) {
    std::ranges::fill(out, 0.0);
    out[axis] = scale * deviations_[column];
  } else {
    Vector(out.data(), length(out)) = scale * lower_.col(column);
  }
}

}  // namespace catena::sample

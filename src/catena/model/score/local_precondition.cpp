#include "catena/model/score/local_precondition.h"

#include <algorithm>
#include <cmath>

#include "catena/nn/gaussian.h"

namespace catena::model {

void LocalLevel::local(std::span<const double> theta_a, std::span<double> xi) const {
  const std::size_t d = size();
  for (std::size_t i = 0; i < d; ++i) {
    double sum = -offset[i];
    for (std::size_t j = 0; j <= i; ++j) sum += l[i * d + j] * theta_a[j];
    xi[i] = sum;
  }
}

void LocalCoordinates::set(std::span<const double> outputs, std::size_t parameters) {
  const std::size_t d = parameters;
  l_.assign(d * d, 0);
  b_.resize(d);
  std::size_t at = 2 * d;
  for (std::size_t i = 0; i < d; ++i) {
    b_[i] = outputs[i];
    l_[i * d + i] = std::exp(outputs[d + i]);
    for (std::size_t j = 0; j < i; ++j) l_[i * d + j] = outputs[at++];
  }
}

void LocalCoordinates::features(std::span<float> values) const {
  const std::size_t d = b_.size();
  for (std::size_t i = 0; i < d; ++i) {
    double mu = b_[i];
    for (std::size_t j = 0; j < i; ++j) mu -= l_[i * d + j] * values[d + j];
    values[i] = static_cast<float>(std::log(l_[i * d + i]));
    values[d + i] = static_cast<float>(mu / l_[i * d + i]);
  }
}

void LocalCoordinates::at(double m, double sigma, LocalLevel& level) const {
  const std::size_t d = b_.size();
  level.m = m;
  level.l = l_;
  level.offset.resize(d);
  level.scale.resize(d);
  for (std::size_t i = 0; i < d; ++i) level.offset[i] = m * b_[i];

  // V = R Rᵀ, in place of V by rows; X = V⁻¹ L; the gain is Xᵀ.
  thread_local std::vector<double> r;
  r.assign(d * d, 0);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k <= j; ++k) sum += l_[i * d + k] * l_[j * d + k];
      sum = sigma * sigma * sum + (i == j ? m * m : 0);
      if (i == j) level.scale[i] = 1 / std::sqrt(sum);
      for (std::size_t k = 0; k < j; ++k) sum -= r[i * d + k] * r[j * d + k];
      r[i * d + j] = i == j ? std::sqrt(sum) : sum / r[j * d + j];
    }
  }
  level.gain.assign(d * d, 0);
  for (std::size_t column = 0; column < d; ++column) {
    double* x = &level.gain[column * d];  // a row of the gain
    for (std::size_t i = column; i < d; ++i) {
      double sum = l_[i * d + column];
      for (std::size_t k = column; k < i; ++k) sum -= r[i * d + k] * x[k];
      x[i] = sum / r[i * d + i];
    }
    for (std::size_t i = d; i-- > 0;) {
      double sum = x[i];
      for (std::size_t k = i + 1; k < d; ++k) sum -= r[k * d + i] * x[k];
      x[i] = sum / r[i * d + i];
    }
  }
}

void LocalLanes::read(const LocalGaussianNetwork& gaussian, Block condition) {
  const std::size_t d = gaussian.parameters(), known = condition.features - local_features(d);
  if (outputs_.features() != nn::gaussian_parameters(d) || outputs_.lanes() < condition.lanes) {
    outputs_ = LaneBlock(nn::gaussian_parameters(d), condition.lanes);
    row_.resize(outputs_.features());
    features_.resize(local_features(d));
    xi_.resize(d);
  }
  if (lanes_.size() < condition.lanes) lanes_.resize(condition.lanes);
  gaussian.evaluate(condition.slice_features(0, known), outputs_);
  for (std::size_t l = 0; l < condition.lanes; ++l) {
    for (std::size_t f = 0; f < row_.size(); ++f) row_[f] = outputs_(f, l);
    lanes_[l].set(row_, d);
    lanes_[l].features(features_);
    for (std::size_t f = 0; f < features_.size(); ++f) condition(known + f, l) = features_[f];
  }
}

const LocalLevel& LocalLanes::at(std::size_t lane, double m, double sigma, std::span<const double> theta_a) {
  lanes_[lane].at(m, sigma, level_);
  level_.local(theta_a, xi_);
  return level_;
}

void LocalLanes::write(Block variable, std::size_t lane) const {
  for (std::size_t f = 0; f < xi_.size(); ++f) variable(f, lane) = static_cast<float>(level_.scale[f] * xi_[f]);
}

}  // namespace catena::model

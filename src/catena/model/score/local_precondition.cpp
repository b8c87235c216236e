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
  lanes_ = condition.lanes;
  if (d_ != d || stride_ < lanes_) {
    d_ = d;
    stride_ = lanes_;
    outputs_ = LaneBlock(nn::gaussian_parameters(d), stride_);
    for (std::vector<double>* matrix : {&l_, &r_, &gain_}) matrix->assign(d * d * stride_, 0);
    for (std::vector<double>* vector : {&b_, &xi_}) vector->assign(d * stride_, 0);
    sum_.assign(stride_, 0);
  }
  gaussian.evaluate(condition.slice_features(0, known), outputs_);
  std::size_t below = 2 * d;  // L's rows below the diagonal
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < i; ++j, ++below) std::copy_n(outputs_.view().feature(below), lanes_, row(l_, i, j));
    double* diagonal = row(l_, i, i);
    for (std::size_t l = 0; l < lanes_; ++l) {
      condition(known + i, l) = outputs_(d + i, l);
      diagonal[l] = std::exp(static_cast<double>(outputs_(d + i, l)));
      b_[i * stride_ + l] = sum_[l] = outputs_(i, l);
    }
    for (std::size_t j = 0; j < i; ++j) {
      const double* lower = row(l_, i, j);
      for (std::size_t l = 0; l < lanes_; ++l) sum_[l] -= lower[l] * condition(known + d + j, l);
    }
    for (std::size_t l = 0; l < lanes_; ++l) condition(known + d + i, l) = static_cast<float>(sum_[l] / diagonal[l]);
  }
}

void LocalLanes::at(std::span<const float> m, std::span<const float> sigma, ConstBlock theta_a, Block variable) {
  const auto subtract_product = [this](const double* x, const double* y) {
    for (std::size_t l = 0; l < lanes_; ++l) sum_[l] -= x[l] * y[l];
  };
  // V = R Rᵀ, the lower half of R alone.
  for (std::size_t i = 0; i < d_; ++i) {
    for (std::size_t l = 0; l < lanes_; ++l) xi_[i * stride_ + l] = -m[l] * b_[i * stride_ + l];
    for (std::size_t j = 0; j <= i; ++j) {
      const double* lower = row(l_, i, j);
      for (std::size_t l = 0; l < lanes_; ++l) xi_[i * stride_ + l] += lower[l] * theta_a(j, l);
      std::fill_n(sum_.begin(), lanes_, 0.0);
      for (std::size_t k = 0; k <= j; ++k) subtract_product(row(l_, i, k), row(l_, j, k));
      for (std::size_t l = 0; l < lanes_; ++l) {
        sum_[l] *= -static_cast<double>(sigma[l]) * sigma[l];
        if (i == j) sum_[l] += static_cast<double>(m[l]) * m[l];
      }
      if (i == j) {
        for (std::size_t l = 0; l < lanes_; ++l) {
          variable(i, l) = static_cast<float>(xi_[i * stride_ + l] / std::sqrt(sum_[l]));
        }
      }
      for (std::size_t k = 0; k < j; ++k) subtract_product(row(r_, i, k), row(r_, j, k));
      double* entry = row(r_, i, j);
      const double* diagonal = row(r_, j, j);
      for (std::size_t l = 0; l < lanes_; ++l) entry[l] = i == j ? std::sqrt(sum_[l]) : sum_[l] / diagonal[l];
    }
  }
  // X = V⁻¹ L; the gain is Xᵀ, a row of which is a column of X.
  for (std::size_t column = 0; column < d_; ++column) {
    for (std::size_t i = 0; i < d_; ++i) {
      if (i < column) {
        std::fill_n(row(gain_, column, i), lanes_, 0.0);
        continue;
      }
      std::copy_n(row(l_, i, column), lanes_, sum_.begin());
      for (std::size_t k = column; k < i; ++k) subtract_product(row(r_, i, k), row(gain_, column, k));
      const double* diagonal = row(r_, i, i);
      double* entry = row(gain_, column, i);
      for (std::size_t l = 0; l < lanes_; ++l) entry[l] = sum_[l] / diagonal[l];
    }
    for (std::size_t i = d_; i-- > 0;) {
      double* entry = row(gain_, column, i);
      std::copy_n(entry, lanes_, sum_.begin());
      for (std::size_t k = i + 1; k < d_; ++k) subtract_product(row(r_, k, i), row(gain_, column, k));
      const double* diagonal = row(r_, i, i);
      for (std::size_t l = 0; l < lanes_; ++l) entry[l] = sum_[l] / diagonal[l];
    }
  }
}

}  // namespace catena::model

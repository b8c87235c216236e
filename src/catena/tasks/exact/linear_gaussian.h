/// Linear-Gaussian transitions, as a Kalman filter predicts by them: k Euler–Maruyama steps of a linear SDE are one.
/// Shared by periodic_sde and linear_sde.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <span>

#include "catena/core/array.h"
#include "catena/tasks/exact/normal.h"

namespace catena::tasks::exact {

/// x' | x ~ N(factor·x, covariance)
template <class M>
struct LinearGaussian {
  M factor;
  M covariance;
};

/// First `first`, then `second`:  M = M₂M₁,  Σ = M₂Σ₁M₂ᵀ + Σ₂.
template <class M>
LinearGaussian<M> followed_by(const LinearGaussian<M>& first, const LinearGaussian<M>& second) {
  return {second.factor * first.factor,
          second.factor * first.covariance * second.factor.transpose() + second.covariance};
}

/// dx = A x dt + B dw in k Euler steps:  M = F^k, Σ = Σ_{i<k} F^i BBᵀdt (F^i)ᵀ, F = I + A dt, by repeated doubling.
template <class M>
LinearGaussian<M> euler_steps(const M& a, const M& bbt, double dt, int steps) {
  const auto n = a.rows();
  LinearGaussian<M> doubled{M::Identity(n, n) + dt * a, dt * bbt};
  LinearGaussian<M> result{M::Identity(n, n), M::Zero(n, n)};
  for (int k = steps; k > 0; k /= 2) {
    if (k % 2 == 1) result = followed_by(result, doubled);
    doubled = followed_by(doubled, doubled);
  }
  return result;
}

/// out[t] = log N(x^(t+1); M x^t, Σ) = −½|L⁻¹(x^(t+1) − M x^t)|² − Σ_i log L_ii − (n/2) log 2π with Σ = LLᵀ.
template <class M>
void log_linear_gaussian(const LinearGaussian<M>& law, const Matrix& series, std::span<double> out) {
  using Vector = Eigen::Matrix<double, M::RowsAtCompileTime, 1, 0, M::MaxRowsAtCompileTime, 1>;
  const auto n = static_cast<Eigen::Index>(series.cols());
  const Eigen::LLT<M> cholesky(law.covariance);
  if (cholesky.info() != Eigen::Success || !law.factor.allFinite()) {
    for (double& value : out) value = -std::numeric_limits<double>::infinity();
    return;
  }
  const M lower = cholesky.matrixL();
  const double constant = -lower.diagonal().array().log().sum() - static_cast<double>(n) * log_sqrt_2pi;
  for (std::size_t t = 0; t + 1 < series.rows(); ++t) {
    const Eigen::Map<const Vector> now(series.row(t).data(), n), next(series.row(t + 1).data(), n);
    Vector residual = next - law.factor * now;
    double squared = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      double value = residual[i];
      for (Eigen::Index j = 0; j < i; ++j) value -= lower(i, j) * residual[j];
      residual[i] = value / lower(i, i);
      squared += residual[i] * residual[i];
    }
    const double log_density = constant - 0.5 * squared;
    out[t] = std::isfinite(log_density) ? log_density : -std::numeric_limits<double>::infinity();
  }
}

/// All that Σ_t log N(x^(t+1); M x^t, Σ) needs of a series, whatever T is: with d = x^(t+1) − x^t, the sums of d dᵀ,
/// d xᵀ and x xᵀ over its transitions. Increments, because M is near I and next states would cancel against it.
template <class M>
class TransitionMoments {
 public:
  explicit TransitionMoments(const Matrix& series) : count_(static_cast<double>(series.rows() - 1)) {
    const auto n = static_cast<Eigen::Index>(series.cols());
    dd_ = dx_ = xx_ = M::Zero(n, n);
    for (std::size_t t = 0; t + 1 < series.rows(); ++t) {
      const Eigen::Map<const Eigen::VectorXd> now(series.row(t).data(), n), next(series.row(t + 1).data(), n);
      const Eigen::VectorXd d = next - now;
      dd_ += d * d.transpose();
      dx_ += d * now.transpose();
      xx_ += now * now.transpose();
    }
  }

  /// −½ tr(Σ⁻¹R) − T Σ_i log L_ii − T (n/2) log 2π with Σ = LLᵀ and, for N = M − I, R = Σ_t (d − N x)(d − N x)ᵀ.
  double log_density(const LinearGaussian<M>& law) const {
    const auto n = dd_.rows();
    const Eigen::LLT<M> cholesky(law.covariance);
    if (cholesky.info() != Eigen::Success || !law.factor.allFinite()) return -std::numeric_limits<double>::infinity();
    const M shift = law.factor - M::Identity(n, n), cross = shift * dx_.transpose();
    const M residual = dd_ - cross - cross.transpose() + shift * xx_ * shift.transpose();
    const M lower = cholesky.matrixL();
    const double constant = -lower.diagonal().array().log().sum() - static_cast<double>(n) * log_sqrt_2pi;
    const double log_density = count_ * constant - 0.5 * cholesky.solve(residual).trace();
    return std::isfinite(log_density) ? log_density : -std::numeric_limits<double>::infinity();
  }

 private:
  double count_;
  M dd_, dx_, xx_;
};

}  // namespace catena::tasks::exact

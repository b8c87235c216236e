/// Guided proposals for diffusion bridges: an unbiased estimate of the density of k Euler–Maruyama steps of a
/// two-dimensional SDE with independent noises, by importance sampling of the k − 1 inner states. Shared by
/// lotka_volterra and sir.
///
/// The proposal is a diffusion bridge guided by the linearised dynamics (Whitaker et al. 2017, docs/refs.bib:
/// whitaker2017, in the linear-noise form). A Model gives one inner step:
///   step(z)       f(z) = z + a(z) dt
///   jacobian(z)   F(z) = ∂f/∂z
///   variances(z)  q(z), the diagonal of the step's covariance Q(z)
///   log_factor(path)  the log of whatever else the density contains, given z_0 … z_{k−1}
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "catena/core/log_mean_exp.h"
#include "catena/prior/special.h"
#include "catena/tasks/exact/normal.h"

namespace catena::tasks::exact {

/// A transition of two coordinates from `start` to `end`; a clipped coordinate was returned as 0 because the last inner
/// step had taken it below 0.
struct ClippedTransition {
  Eigen::Vector2d start, end;
  std::array<bool, 2> clipped{false, false};
};

/// A truncated normal: a standard normal given that it is at most `bound`, from the standard normal u, with the log of
/// its density.
inline double draw_truncated(double bound, double u, double& log_density) {
  const double uniform = prior::normal_lower(u);
  if (bound > -3) {
    const double below = std::clamp(uniform * prior::normal_lower(bound), 1e-300, 1 - 0x1p-53);
    const double t = prior::normal_from_tails({below, 1 - below});
    log_density = -0.5 * t * t - log_sqrt_2pi - log_normal_cdf(bound);
    return t;
  }
  // Far in the tail: Rayleigh's tail, density |t| exp(−(t² − bound²)/2), whose ratio to the normal's is almost flat.
  const double t = -std::sqrt(bound * bound - 2 * std::log(uniform));
  log_density = std::log(-t) - 0.5 * (t * t - bound * bound);
  return t;
}

/// The normals that one particle uses: 2(k − 1) for the inner states and 2 for clipped coordinates.
inline std::size_t bridge_normals(int steps) { return 2 * static_cast<std::size_t>(steps); }

template <class Model>
class GuidedBridge {
 public:
  GuidedBridge(const Model& model, int steps) : model_(model), steps_(static_cast<std::size_t>(steps)) {
    path_.resize(steps_);
    factors_.resize(steps_);
    shifts_.resize(steps_);
    variances_.resize(steps_);
    predictions_.resize(steps_ + 1);
  }

  /// The importance-sampling estimate log p̂ = log (1/N) Σ_i w_i of N = u.size() / bridge_normals(steps) particles; −∞
  /// if every weight is 0.
  double log_estimate(const ClippedTransition& transition, std::span<const double> u) {
    const std::size_t per_particle = 2 * steps_;
    const std::size_t particles = u.size() / per_particle;
    const bool any_clipped = transition.clipped[0] || transition.clipped[1];
    log_weights_.resize(particles);
    if (!any_clipped) guide(transition.start, transition.end, {true, true});
    for (std::size_t i = 0; i < particles; ++i) {
      const double* normals = u.data() + i * per_particle;
      double log_weight = 0;
      Eigen::Vector2d end = transition.end;
      if (any_clipped) {
        log_weight = draw_clipped(transition, normals + 2 * (steps_ - 1), end);
        guide(transition.start, end, {true, true});
      }
      log_weights_[i] = log_weight + log_bridge_weight(transition.start, end, normals);
    }
    return log_mean_exp(log_weights_);
  }

 private:
  /// What the linearised dynamics predict of the end from inner state k: e | z_k ~ N(A z_k + b, V).
  struct Prediction {
    Eigen::Matrix2d a, v, v_inverse;
    Eigen::Vector2d b;
    double v_determinant;
  };

  /// Linearises along the noise-free path η, bent linearly so that its observed coordinates end where they should:
  ///   p_k = η_k + (k/K)(e − η_K),  z_{k+1} ≈ f(p_k) + F(p_k)(z_k − p_k) + N(0, Q(p_k)),
  /// then backwards from A_K = I, b_K = 0, V_K = 0:
  ///   A_k = A_{k+1}F_k,  b_k = A_{k+1}c_k + b_{k+1},  V_k = V_{k+1} + A_{k+1}Q_kA_{k+1}ᵀ,  c_k = f(p_k) − F_k p_k.
  void guide(const Eigen::Vector2d& start, const Eigen::Vector2d& end, std::array<bool, 2> observed) {
    path_[0] = start;
    for (std::size_t k = 1; k < steps_; ++k) path_[k] = model_.step(path_[k - 1]);
    Eigen::Vector2d miss = end - model_.step(path_[steps_ - 1]);
    for (int i = 0; i < 2; ++i) {
      if (!observed[static_cast<std::size_t>(i)]) miss[i] = 0;
    }
    Eigen::Vector2d most(0, 0);
    for (std::size_t k = 0; k < steps_; ++k) {
      const Eigen::Vector2d p = path_[k] + static_cast<double>(k) / static_cast<double>(steps_) * miss;
      factors_[k] = model_.jacobian(p);
      shifts_[k] = model_.step(p) - factors_[k] * p;
      variances_[k] = model_.variances(p);
      most = most.cwiseMax(variances_[k]);
    }
    // A path that happens to pass close to a zero of the noise must not make the guide blind there. Any floor is
    // valid: the guide is only a proposal.
    constexpr double floor = 0.05;
    Prediction& last = predictions_[steps_];
    last.a.setIdentity();
    last.b.setZero();
    last.v.setZero();
    for (std::size_t k = steps_; k-- > 0;) {
      const Prediction& next = predictions_[k + 1];
      Prediction& prediction = predictions_[k];
      prediction.a.noalias() = next.a * factors_[k];
      prediction.b.noalias() = next.a * shifts_[k] + next.b;
      const Eigen::Vector2d q = variances_[k].cwiseMax(floor * most);
      prediction.v = next.v + next.a * q.asDiagonal() * next.a.transpose();
      prediction.v_determinant = prediction.v(0, 0) * prediction.v(1, 1) - prediction.v(0, 1) * prediction.v(1, 0);
      prediction.v_inverse << prediction.v(1, 1), -prediction.v(0, 1), -prediction.v(1, 0), prediction.v(0, 0);
      prediction.v_inverse /= prediction.v_determinant;
    }
  }

  /// Draws where the clipped coordinates were before clipping, from the linearised prediction of the end cut off at 0
  /// (good where a clipped coordinate's noise does not vanish with it),
  /// into `end`; returns −log of the density they were drawn from.
  double draw_clipped(const ClippedTransition& transition, const double* normals, Eigen::Vector2d& end) {
    guide(transition.start, transition.end, {!transition.clipped[0], !transition.clipped[1]});
    Eigen::Vector2d mean = predictions_[0].a * transition.start + predictions_[0].b;
    const Eigen::Matrix2d& v = predictions_[0].v;
    double log_weight = 0;
    std::array<bool, 2> known{!transition.clipped[0], !transition.clipped[1]};
    for (int i = 0; i < 2; ++i) {
      const auto self = static_cast<std::size_t>(i), other = 1 - self;
      if (known[self]) continue;
      double m = mean[i], variance = v(i, i);
      if (known[other]) {
        const int j = 1 - i;
        m += v(i, j) / v(j, j) * (end[j] - mean[j]);
        variance -= v(i, j) * v(i, j) / v(j, j);
      }
      const double sd = std::sqrt(variance);
      double log_density = 0;
      end[i] = m + sd * draw_truncated(-m / sd, normals[self], log_density);
      // Rounding may leave the value a hair above 0, where the target is 0.
      end[i] = std::min(end[i], 0.0);
      log_weight -= log_density - std::log(sd);
      known[self] = true;
    }
    return log_weight;
  }

  /// Particle: z_{k+1} ~ N(f(z_k), Q(z_k)) conditioned on what the guide says of the end, a Kalman update. With
  /// S = A Q Aᵀ + V, μ = f(z_k) and A, b, V of step k + 1,
  ///   p(z_{k+1} | z_k) / proposal = N(e; Aμ + b, S) / N(e; A z_{k+1} + b, V);
  /// the last step contributes its own density N(e; f(z_{K−1}), Q(z_{K−1})).
  double log_bridge_weight(const Eigen::Vector2d& start, const Eigen::Vector2d& end, const double* normals) {
    Eigen::Vector2d z = start;
    double squares = 0;       // −2 × the exponents
    double determinants = 1;  // Π |S| / |V|
    path_[0] = z;
    for (std::size_t k = 0; k + 1 < steps_; ++k) {
      const Prediction& prediction = predictions_[k + 1];
      const Eigen::Vector2d mean = model_.step(z);
      const Eigen::Vector2d q = model_.variances(z);
      const Eigen::Matrix2d aq = prediction.a * q.asDiagonal();
      const Eigen::Matrix2d s = aq * prediction.a.transpose() + prediction.v;
      const double determinant = s(0, 0) * s(1, 1) - s(0, 1) * s(1, 0);
      Eigen::Matrix2d s_inverse;
      s_inverse << s(1, 1), -s(0, 1), -s(1, 0), s(0, 0);
      s_inverse /= determinant;
      const Eigen::Vector2d innovation = end - prediction.a * mean - prediction.b;
      const Eigen::Vector2d weighted = s_inverse * innovation;
      squares += innovation.dot(weighted);
      determinants *= determinant / prediction.v_determinant;
      Eigen::Matrix2d covariance = -aq.transpose() * s_inverse * aq;
      covariance(0, 0) += q[0];
      covariance(1, 1) += q[1];
      const double l00 = std::sqrt(std::max(covariance(0, 0), 0.0));
      const double l10 = l00 > 0 ? covariance(1, 0) / l00 : 0;
      const double l11 = std::sqrt(std::max(covariance(1, 1) - l10 * l10, 0.0));
      const double u0 = normals[2 * k], u1 = normals[2 * k + 1];
      z = mean + aq.transpose() * weighted + Eigen::Vector2d(l00 * u0, l10 * u0 + l11 * u1);
      const Eigen::Vector2d rest = end - prediction.a * z - prediction.b;
      squares -= rest.dot(prediction.v_inverse * rest);
      path_[k + 1] = z;
    }
    const Eigen::Vector2d mean = model_.step(z);
    const Eigen::Vector2d q = model_.variances(z);
    squares += (end - mean).cwiseAbs2().cwiseQuotient(q).sum();
    return -0.5 * (squares + std::log(determinants * q[0] * q[1])) - 2 * log_sqrt_2pi + model_.log_factor(path_);
  }

  const Model& model_;
  std::size_t steps_;  // K
  std::vector<Eigen::Vector2d> path_, shifts_, variances_;
  std::vector<Eigen::Matrix2d> factors_;
  std::vector<Prediction> predictions_;
  std::vector<double> log_weights_;
};

}  // namespace catena::tasks::exact

/// A mixture of normals Σ_j π_j N(z; μ_j, L_j L_jᵀ) as a map of w ~ N(0, I), one coordinate after the other (Rosenblatt
/// 1952, docs/refs.bib: rosenblatt1952):
///
///   Φ(w_i) = F(z_i | z_1 … z_(i−1)) = Σ_j r_ij Φ(u_ij),   u_j = L_j⁻¹(z − μ_j),   r_ij ∝ π_j Π_(k<i) φ(u_kj)/L_j,kk.
///
/// For one normal that is z = μ + L w. Used by priors around a posterior (around.h).
#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

namespace catena::prior {

struct NormalMixture {
  struct Component {
    double weight = 1;      // π_j, positive; they add up to 1
    Eigen::VectorXd mean;   // μ_j
    Eigen::MatrixXd lower;  // L_j, a Cholesky factor
  };
  std::vector<Component> components;

  static NormalMixture one(Eigen::VectorXd mean, Eigen::MatrixXd lower) {
    return {{{1, std::move(mean), std::move(lower)}}};
  }

  Eigen::VectorXd to_z(std::span<const double> w) const;
  Eigen::VectorXd to_w(std::span<const double> z) const;
  double log_density(std::span<const double> z) const;
  /// Of log_density, in z.
  Eigen::VectorXd gradient(std::span<const double> z) const;
  /// ∂w/∂z, a lower triangle: its inverse is the Jacobian of the map.
  Eigen::MatrixXd inverse_jacobian(std::span<const double> z) const;
};

}  // namespace catena::prior

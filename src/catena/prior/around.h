/// Priors for a second round: normals in z-space where a posterior was found to be, one for each of its modes, in place
/// of N(0, I),
///
///   z ~ q(z) = Σ_j π_j N(z; μ_j, L_j L_jᵀ),   z = T(w),   w ~ N(0, I),   θ = base(z),
///
/// with T the map of normal_mixture.h. A set that is simulated with it knows more about the θ that matter. Scores
/// learned from it compose exactly with w as their z-space; draws of theirs get the true prior back by the weights
/// N(z; 0, I)/q(z). sample/posteriors/around.h fits one to draws.
#pragma once

#include <Eigen/Dense>
#include <optional>

#include "catena/prior/normal_mixture.h"
#include "catena/prior/prior.h"

namespace catena::prior {

/// What such a prior is made of.
struct Around {
  Prior base;
  NormalMixture normals;  // q

  Prior prior() const;
  /// z of w.
  Eigen::VectorXd to_base(std::span<const double> w) const;
  /// w of z.
  Eigen::VectorXd from_base(std::span<const double> z) const;
  /// log N(z; 0, I) − log q(z) at the z of w.
  double log_weight(std::span<const double> w) const;
  /// Its gradient in w: Jᵀ (−z − ∇ log q(z)), J the Jacobian of T.
  Eigen::VectorXd log_weight_gradient(std::span<const double> w) const;
};

/// The parts of a prior made by `Around::prior`; none for any other.
std::optional<Around> around_of(const Prior& prior);

/// The prior that answers about θ are given under, for what was learned with `trained` as the prior of its z-space
/// (here called w): the base of a prior around a posterior; any other prior is its own, with w = z and weight 1. Draws,
/// densities, modes and reports all ask here.
class TruePrior {
 public:
  explicit TruePrior(Prior trained) : trained_(std::move(trained)), around_(around_of(trained_)) {}

  const Prior& prior() const { return around_ ? around_->base : trained_; }
  const Prior& trained() const { return trained_; }
  const std::optional<Around>& around() const { return around_; }

  void to_z(std::span<const double> w, std::span<double> z) const;
  void to_w(std::span<const double> z, std::span<double> w) const;
  /// log p(θ) − log p_trained(θ) at the θ of w.
  double log_weight(std::span<const double> w) const { return around_ ? around_->log_weight(w) : 0; }
  void add_log_weight_gradient(std::span<const double> w, std::span<double> gradient) const;
  /// A gradient in w becomes the one in z: ∇_z = J⁻ᵀ ∇_w.
  void gradient_to_z(std::span<const double> w, std::span<double> gradient) const;

 private:
  Prior trained_;
  std::optional<Around> around_;
};

/// As a factor of a prior, for the list of families.
FactorPtr around_factor(Around parts);
FactorPtr around_from_json(const nlohmann::json& settings);

}  // namespace catena::prior

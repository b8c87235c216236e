/// Priors for a second round: a normal in z-space where a posterior was found to be, in place of N(0, I),
///
///   z = μ + L w,   w ~ N(0, I),   θ = base(z).
///
/// A set that is simulated with it knows more about the θ that matter. Scores learned from it compose exactly with w as
/// their z-space; draws of theirs get the true prior back by the weights N(z; 0, I)/N(z; μ, LLᵀ).
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <string_view>

#include "catena/core/array.h"
#include "catena/prior/prior.h"

namespace catena::prior {

/// What such a prior is made of.
struct Around {
  Prior base;
  Eigen::VectorXd mean;   // μ
  Eigen::MatrixXd lower;  // L, a Cholesky factor

  Prior prior() const;
  /// z of w.
  Eigen::VectorXd to_base(std::span<const double> w) const;
  /// log N(z; 0, I) − log N(z; μ, LLᵀ) of z = μ + L w.
  double log_weight(std::span<const double> w) const;
};

/// The normal with the mean of the draws in z-space and `widen`² times their covariance. A base that is itself around
/// something is replaced by its own base. Throws InputError if there are too few draws or one is outside the prior.
Around fit_around(std::string_view function, const Prior& base, ConstMatrixView theta, double widen);

/// The parts of a prior made by `Around::prior`; none for any other.
std::optional<Around> around_of(const Prior& prior);

/// As a factor of a prior, for the list of families.
FactorPtr around_factor(Around parts);
FactorPtr around_from_json(const nlohmann::json& settings);

}  // namespace catena::prior

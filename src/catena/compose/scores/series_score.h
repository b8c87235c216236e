/// The score of the whole series' posterior at noise level a, as samplers see it, whichever rule composes it.
#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "catena/core/array.h"
#include "catena/core/outcome.h"
#include "catena/diffusion/schedule.h"

namespace catena::compose {

/// A Gaussian guess at the posterior's shape: Λ(0) = axes · diag(precisions) · axesᵀ, precisions ascending. Samplers
/// take from it where to end and how far to step; the target does not depend on it.
struct PosteriorShape {
  Eigen::MatrixXd axes;
  Eigen::VectorXd precisions;

  double narrowest() const;  ///< smallest standard deviation
};

class SeriesScore {
 public:
  virtual ~SeriesScore() = default;

  virtual const diffusion::Schedule& schedule() const = 0;
  virtual std::size_t dimension() const = 0;
  virtual const PosteriorShape& shape() const = 0;

  /// out = ≈ ∇ log p(θ_a | x^{0:T}), one particle a row. Called from many threads at once. Anything but ok says that
  /// rows of `out` cannot be trusted.
  virtual Outcome operator()(ConstMatrixView theta_a, double a, MatrixView out) const = 0;

  /// Variances along the shape's axes of y = θ_a/m at noise η = σ/m: v + η² for a diffused Gaussian.
  virtual Eigen::VectorXd level_variances(double eta) const;

  /// Whether the score is meant to be that of a diffused density, for which Tweedie's formula holds.
  virtual bool follows_diffusion() const { return true; }

  /// Whether the rule's precision of the series had to be made positive definite at the start (`gauss`), and by how
  /// much: the largest eigenvalue of Λ₋, 0 if none.
  virtual double adjustment() const { return 0; }

  /// How often so far a local covariance was not positive definite in some direction, which then got the prior's
  /// precision (`jac`), over how many local covariances.
  struct Unknown {
    std::size_t directions = 0, covariances = 0;
  };
  virtual Unknown unknown() const { return {}; }
};

}  // namespace catena::compose

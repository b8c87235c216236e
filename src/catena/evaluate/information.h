/// Where along a series the knowledge about the parameters comes from: what each transition contributes.
///
/// In z-space, where the prior is N(0, I), the score of the posterior π is ∇log π(z) = −z + Σ_t g_t(z) with the local
/// likelihoods' gradients g_t(z) = ∇_z log p(x^(t+1) | x^t, z). Integration by parts gives E[z_i ∂_i log π] = −1 and
/// E[∂_i log π] = 0 for every π, hence without any approximation (docs/theory/information.md, eq. 2)
///
///   Σ_t c_ti = 1 − Var(z_i),   c_ti = −Cov(z_i, g_ti(z)),   moments over the posterior:
///
/// c_ti is the share of the prior's variance of z_i that transition t took away. For Gaussian local likelihoods with
/// precisions J_t and posterior covariance Σ it is (Σ J_t)_ii, and Σ_i c_ti = tr(Σ J_t) ≥ 0 does not depend on the
/// coordinates. All it takes are draws and gradients, so that it is one definition for every method.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/parallel.h"

namespace catena::evaluate {

struct Information {
  Matrix contribution;          ///< c_ti, T × d, from the draws
  std::vector<double> removed;  ///< 1 − Var(z_i) from the draws alone
  std::vector<double> error;    ///< Monte Carlo standard error of Σ_t c_ti + Var(z_i), which is 1 where all is right

  /// Σ_t c_ti.
  double total(std::size_t parameter) const;
  /// Σ_i c_ti: how many of the d parameters transition t is worth.
  double of_transition(std::size_t t) const;
};

/// g_t at every draw: row k of `out` for row k of `z`. Called from many threads at once.
using LocalGradient = std::function<void(std::size_t t, ConstMatrixView z, MatrixView out)>;

/// `z` has one draw of the posterior a row, at least two, taken as independent.
Information information(ConstMatrixView z, std::size_t transitions, const LocalGradient& gradient,
                        const Parallel& parallel);

}  // namespace catena::evaluate

/// What a composition rule needs of local estimates: the scores of single transitions in z-space, where the prior is
/// N(0, I). A network is one source; tests use closed forms.
#pragma once

#include <cstddef>
#include <memory>

#include "catena/core/array.h"

namespace catena::compose {

/// Sums over a whole series at a cost that does not depend on its length (separable networks have them).
class SummedScores {
 public:
  virtual ~SummedScores() = default;
  /// One particle a row: sum = Σ_t s_t(θ_a, a) and weighted = Σ_t C_t s_t(θ_a, a), with the C_t given at the start.
  /// `weighted` has no rows if no C_t were given. Called from many threads at once.
  virtual void operator()(ConstMatrixView theta_a, double a, MatrixView sum, MatrixView weighted) const = 0;
};

/// Symmetric matrices C_t, one a row: d numbers (diagonal) or d·d numbers (full). Empty: none.
using LocalPrecisions = Matrix;

/// s_t(θ_a, a) ≈ ∇ log p(θ_a | x^t, x^(t+1)), 0 ≤ t < T. Every method is called from many threads at once.
class LocalScores {
 public:
  virtual ~LocalScores() = default;

  virtual std::size_t transitions() const = 0;  ///< T ≥ 1
  virtual std::size_t dimension() const = 0;    ///< d

  /// The scores of transitions begin ≤ t < end at n particles (one a row): row (t − begin)·n + particle of `out`.
  virtual void scores(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out) const = 0;

  /// Whether `jacobians` may be called.
  virtual bool has_jacobians() const { return false; }
  /// Scores as above and, in the same rows of `jacobians`, ∂s_i/∂θ_j at column i·d + j.
  virtual void scores_and_jacobians(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end,
                                    MatrixView out, MatrixView jacobians) const;

  /// The fast path, if there is one: sums over all t, weighted with the given precisions (which may be empty).
  virtual std::unique_ptr<SummedScores> summed(const LocalPrecisions& precisions) const;
};

/// `source.summed(precisions)`, or where it has no fast path a loop over its transitions, a tile at a time. `source`
/// and `precisions` must outlive the result.
std::unique_ptr<SummedScores> sums_of(const LocalScores& source, const LocalPrecisions& precisions);

/// How many transitions to ask for at once, so that a tile of scores stays in the second-level cache.
std::size_t transitions_per_tile(std::size_t particles, std::size_t columns);

}  // namespace catena::compose

/// Local scores in closed form, for the tasks where they are known: what composition and sampling cost by themselves,
/// without any network (decompose.h, and sweeps whose method says `"scores": "exact"`).
///
/// x^(t+1) = α x^t + u θ + s ε with a sign u that is 1 (gaussian_rw), or ±1 with equal chance (mixture_rw). With
/// v = x^(t+1) − α x^t, z | θ_a ~ N(ẑ, τ² I) (model/density/blur.h) and p = 1/(s² + τ²), v is N(u ẑ, I/p) given u, so
///
///   ∇_ẑ log q_τ = p (w v − ẑ),   ∇²_ẑ log q_τ = p² (1 − w²) v vᵀ − p I,
///
/// with the mean sign w = E[u | v, ẑ] = tanh(p v·ẑ), or 1 where there is one sign.
#pragma once

#include <string>
#include <vector>

#include "catena/compose/scores/local_scores.h"
#include "catena/diffusion/schedule.h"
#include "catena/tasks/task.h"

namespace catena::experiment {

/// Tasks whose diffused local posteriors are known.
const std::vector<std::string>& tasks_with_exact_scores();

class ExactScores final : public compose::LocalScores {
 public:
  /// Throws InputError for another task.
  ExactScores(const tasks::Task& task, ConstMatrixView series, const diffusion::Schedule& schedule);

  std::size_t transitions() const override { return v_.rows(); }
  std::size_t dimension() const override { return v_.cols(); }
  bool has_jacobians() const override { return true; }
  void scores(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out) const override;
  void scores_and_jacobians(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out,
                            MatrixView jacobians) const override;

  /// Inverses of the local posteriors' covariances: each sign's is s²/(1 + s²) I around ±v/(1 + s²).
  compose::LocalPrecisions precisions() const;

 private:
  double alpha_, s_;
  bool both_signs_;
  diffusion::Schedule schedule_;
  Matrix v_;
};

}  // namespace catena::experiment

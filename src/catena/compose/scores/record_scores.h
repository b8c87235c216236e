/// The score ŝ(c; z) = ∇_z log q(x^(t+1) | x^t, z) of single records, by whatever was learned: the gradient of a
/// density (fnle) or of a ratio (fnre), that of the likelihood with the least blur (fnbe), or the local score at a
/// small noise level without the prior's (fnse). Correction by simulation takes it as a statistic (sample/correct/),
/// and users ask for it (compose/density/transition_density.h).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/model/trained_model.h"

namespace catena::compose {

class RecordScores {
 public:
  virtual ~RecordScores() = default;
  /// Whether `evaluate` knows log q too.
  virtual bool has_value() const = 0;
  /// Row i of `score` = ŝ of the record with features row i of c (as ObservedSeries::c has them) at row i of z, or at
  /// its only row; value[i] = log q up to `log_constants`, where there is one and `value` is not empty. Many threads
  /// may call at once.
  virtual void evaluate_at(ConstMatrixView c, ConstMatrixView z, MatrixView score, std::span<double> value) const = 0;
  void evaluate(ConstMatrixView c, std::span<const double> z, MatrixView score, std::span<double> value) const {
    evaluate_at(c, {z.data(), 1, z.size()}, score, value);
  }
  /// What makes of a value log q(x^(t+1) | x^t, z) in units of the simulator: it does not depend on z. Zero for ratios.
  virtual std::vector<double> log_constants(ConstMatrixView c) const { return std::vector<double>(c.rows, 0.0); }
};

/// `model` must outlive the result. Scores that were learned at noise levels (fnse) are those at η = σ/m = `noise`, or
/// at the smallest level that training drew. Throws InputError for a method without local scores.
std::unique_ptr<RecordScores> record_scores(std::string_view function, const model::TrainedModel& model,
                                            double noise = 0);

}  // namespace catena::compose

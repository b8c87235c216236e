/// The score ŝ(c; z) = ∇_z log q(x^(t+1) | x^t, z) of single records at one z, by whatever was learned: the gradient of
/// a density (fnle) or of a ratio (fnre), that of the likelihood with the least blur (fnbe), or the local score at the
/// smallest noise level without the prior's (fnse). Correction by simulation takes it as a statistic (sample/correct/).
#pragma once

#include <memory>
#include <span>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/model/trained_model.h"

namespace catena::compose {

class RecordScores {
 public:
  virtual ~RecordScores() = default;
  /// Whether `evaluate` knows log q too.
  virtual bool has_value() const = 0;
  /// Row i of `score` = ŝ of the record with features row i of c (as ObservedSeries::c has them); value[i] = log q up
  /// to a constant that does not depend on z, where there is one and `value` is not empty. Many threads may call at
  /// once.
  virtual void evaluate(ConstMatrixView c, std::span<const double> z, MatrixView score,
                        std::span<double> value) const = 0;
};

/// `model` must outlive the result. Throws InputError for a method without local scores.
std::unique_ptr<RecordScores> record_scores(std::string_view function, const model::TrainedModel& model);

}  // namespace catena::compose

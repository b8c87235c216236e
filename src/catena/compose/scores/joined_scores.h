/// Local scores of several models of the same θ as one source: the transitions of all, one after the other. A rule then
/// counts the prior once less than there are records, whichever model they belong to:
///
///   ∇ log p(θ | x^{0:T}) = ∇ log p(θ | x⁰) + Σ_t ∇ log p̃(θ | x^t, x^(t+1)) − T ∇ log p(θ).
#pragma once

#include <memory>
#include <vector>

#include "catena/compose/scores/local_scores.h"

namespace catena::compose {

/// At least one part; all of the same dimension.
std::unique_ptr<LocalScores> joined_scores(std::vector<std::unique_ptr<LocalScores>> parts);

/// Their precisions, in the same order: diagonal ones only if all are.
LocalPrecisions joined_precisions(const std::vector<LocalPrecisions>& parts);

}  // namespace catena::compose

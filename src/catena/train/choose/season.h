/// Seasons: with which periods networks see time (features.h), given by the setting `period` or found.
///
/// A candidate comes from a periodogram of what a linear regression on the features and z leaves of the increments.
/// Effects of the season differ with θ and may vanish on average over it, so that residuals e are looked at both as
/// they are and times each coordinate of z:
///
///   S(f) = 2/N Σ_i Σ_k | Σ_r e_i^r w_k^r exp(2πi f t^r) |²,   w = (1, z_1, …, z_d),   var(e_i) = 1.
///
/// Without a season, S is χ² with 2 n (1 + d) degrees of freedom at each f. Whether networks are better with the
/// candidate than without is then decided by the held-out loss (trial.h).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "catena/core/config.h"
#include "catena/train/method.h"

namespace catena::train {

/// The setting, which all methods have.
FieldInfo period_field();

/// What `auto` tries: the period where S is largest, as a round number if the data cannot tell it from one; none if
/// that may be chance, or if the records have no time.
std::optional<double> likely_period(const TrainingData& data);

/// Lets the data see what the setting says: "auto", "none", a number, numbers with commas or a list of them. Returns
/// what was chosen as a text for the model's settings, and the losses of the trials for its notes; null if there is
/// nothing to say.
struct Season {
  nlohmann::json setting, notes;
};
Season choose_season(const nlohmann::json& setting, const MethodContext& context, std::string_view method);

}  // namespace catena::train

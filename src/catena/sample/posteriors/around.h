/// The prior of a second round, fitted to draws of the first round's posterior: `catena simulate --around`, the rounds
/// of a sweep, and Python's `prior.around`.
#pragma once

#include <string_view>

#include "catena/core/array.h"
#include "catena/prior/around.h"

namespace catena::sample {

/// One normal for each mode of the draws in z-space (mcmc/start/modes.h), with the mode's weight and mean and `widen`²
/// times its covariance. A base that is itself around something is replaced by its own base. Throws InputError if there
/// are too few draws or one is outside the prior.
prior::Around fit_around(std::string_view function, const prior::Prior& base, ConstMatrixView theta, double widen);

}  // namespace catena::sample

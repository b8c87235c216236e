/// What was learned of single transitions, for whoever asks in the simulator's own units: log q(x^(t+1) | x^t, θ), a
/// normalised density of x^(t+1) (fnle, fnbe), or the log ratio of likelihood to evidence (fnre), with its gradient in
/// θ, ∇_θ = (∂θ/∂z)^−ᵀ ∇_z.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/model/trained_model.h"

namespace catena::compose {

/// A transition a row, as transition sets have them (simulate/transitions/transitions.h): x with mn columns, latest
/// first; time, step and u are empty where the model's records have none.
struct GivenTransitions {
  ConstMatrixView x, x_next;
  std::span<const double> time = {}, step = {};
  ConstMatrixView u = {};
};

struct TransitionValues {
  std::vector<double> value;
  Matrix gradient;  // in θ; without rows if nobody asked
};

/// Row by row, at row r of θ. Throws InputError, whose sentence begins with `function`, for θ outside the prior's
/// support and for a model of scores, which has no such value.
TransitionValues transition_values(std::string_view function, const model::TrainedModel& model, ConstMatrixView theta,
                                   const GivenTransitions& transitions, bool gradient, const Parallel& parallel);

}  // namespace catena::compose

/// The gradients of single transitions by a trained model, whatever its method: what information.h asks for.
#pragma once

#include "catena/compose/observed_series.h"
#include "catena/evaluate/information.h"
#include "catena/model/trained_model.h"

namespace catena::evaluate {

/// g_t(z) = ∇_z log p(x^(t+1) | x^t, z) of the transitions of a series, z as the networks see it. Densities and ratios
/// give it as it is. A score model gives it smoothed by noise of the deviation `eta` (in units of z), the prior's part
/// removed in closed form: g_t(z) ≈ m s_t(m z, a) + m² z/(m² + σ²) at the a with σ/m = eta. `model` and `observed` must
/// outlive it.
LocalGradient local_gradient(const model::TrainedModel& model, const compose::ObservedSeries& observed, double eta);

/// The contribution of each transition at the draws `z` of the posterior, in the true prior's z-space, with eta at a
/// twentieth of the draws' narrowest standard deviation: where the sampler of scores ends, too.
Information information(const model::TrainedModel& model, const compose::ObservedSeries& observed, ConstMatrixView z,
                        const Parallel& parallel);

}  // namespace catena::evaluate

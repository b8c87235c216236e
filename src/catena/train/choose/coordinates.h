/// In which coordinates a density is learned: for states that are positive throughout, as a density of increments of
/// log x in place of those of x. Where noise multiplies (populations, prices, concentrations), the first are Gaussian
/// and the second are not. Both are densities of x^(t+1) after the change of variables,
///
///   log q(x^(t+1) | x^t, z) = log q(v | x^t, z) − log scale − log x^(t+1),   v = (log x^(t+1) − log x^t)/scale,
///
/// so that the held-out loss decides: that of small Gaussians, each trained for a moment, three times.
#pragma once

#include "catena/model/density/density_model.h"
#include "catena/train/method.h"

namespace catena::train {

/// What was found, in the model's notes: the held-out losses of the trials (nats per transition, as densities of
/// x^(t+1), without ½ log 2π for each coordinate).
struct Coordinates {
  model::DensityInputSettings inputs;  // without auto
  nlohmann::json notes;                // null: there was nothing to choose
};

/// Lets the data see what `settings` names, or what is best, and replaces every auto of the inputs. Throws InputError
/// for a state by its logarithm that is not positive.
Coordinates choose_coordinates(const model::DensityModelSettings& settings, const MethodContext& context,
                               std::string_view method);

}  // namespace catena::train

/// lotka_volterra: (α, β, γ, δ) = 1 + 2 sigmoid(θ); dx = (αx − βxy) dt + σxy dw₁, dy = (−γy + δxy) dt + σxy dw₂,
/// Euler–Maruyama, then clipped at 0. The density over the inner states is estimated without bias by a guided bridge.
#pragma once

#include <memory>

#include "catena/tasks/density.h"

namespace catena::tasks {

struct LotkaVolterraConstants {
  double sigma = 0.1;  ///< σ
  int steps = 5;
  double dt = 0.02;
};

/// particles: bridges per transition and estimate. From a state with x = 0 or y = 0 there is no noise at all: such a
/// transition pins γ (or α) exactly; one that cannot come from the simulator is an InputError.
std::unique_ptr<SeriesLikelihood> lotka_volterra_likelihood(const LotkaVolterraConstants& constants,
                                                            ConstMatrixView series, std::size_t particles = 2);

}  // namespace catena::tasks

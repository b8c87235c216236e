/// sir: (γ, β) = 2 sigmoid(θ₁, θ₂); dS = −βSI dt + σ dw₁, dI = (βSI − γI) dt + τI dw₂, dR = γI dt + σ dw₃,
/// Euler–Maruyama, then clipped at 0. R is integrated in closed form given I; (S, I) by a guided bridge, without bias.
#pragma once

#include <memory>

#include "catena/tasks/density.h"

namespace catena::tasks {

struct SirConstants {
  int steps = 5;
  double dt = 0.01;
  double noise = 0.01;           ///< σ, of S and R
  double infection_noise = 0.1;  ///< τ, relative, of I
};

/// particles: bridges per transition and estimate. From I = 0 the infection stays 0 and nothing depends on θ.
std::unique_ptr<SeriesLikelihood> sir_likelihood(const SirConstants& constants, ConstMatrixView series,
                                                 std::size_t particles = 2);

}  // namespace catena::tasks

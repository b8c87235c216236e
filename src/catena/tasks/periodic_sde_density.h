/// periodic_sde: dx = A x dt + σ dw, A = [[0, −θ₁²], [θ₂², 0]], Euler–Maruyama: linear-Gaussian, with four symmetric
/// modes (the signs of θ₁ and θ₂).
#pragma once

#include <memory>

#include "catena/tasks/density.h"

namespace catena::tasks {

struct PeriodicSdeConstants {
  int steps = 20;
  double dt = 0.005;
  double noise = 0.1;      ///< σ
  bool minus_sign = true;  ///< of θ₁² in A
};

std::unique_ptr<SeriesLikelihood> periodic_sde_likelihood(const PeriodicSdeConstants& constants,
                                                          ConstMatrixView series);

}  // namespace catena::tasks

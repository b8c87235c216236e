/// linear_sde: dx = (a M₁ − 2I) x dt + B dw, B = ½M₂ + ½I, with M₁, M₂ the halves of θ as row-major n×n matrices;
/// Euler–Maruyama: linear-Gaussian. The law depends on B through BBᵀ only.
#pragma once

#include <memory>

#include "catena/tasks/density.h"

namespace catena::tasks {

struct LinearSdeConstants {
  std::size_t n = 2;
  int steps = 20;
  double dt = 0.001;
  double drift_scale = 0.5;      ///< a
  double drift_shift = 2;        ///< the 2 of −2I
  double diffusion_scale = 0.5;  ///< the ½ of ½M₂
  double diffusion_shift = 0.5;  ///< the ½ of ½I
};

std::unique_ptr<SeriesLikelihood> linear_sde_likelihood(const LinearSdeConstants& constants, ConstMatrixView series);

}  // namespace catena::tasks

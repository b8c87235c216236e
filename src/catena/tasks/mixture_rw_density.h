/// mixture_rw: x' = x + uθ + σε, u = ±1 with equal chance. The transition density is a mixture of two Gaussians, and
/// the posterior has two modes, θ and −θ.
#pragma once

#include <memory>

#include "catena/tasks/density.h"

namespace catena::tasks {

struct MixtureRwConstants {
  std::size_t dim = 5;
  double sigma = 0.5;  ///< σ
};

std::unique_ptr<SeriesLikelihood> mixture_rw_likelihood(const MixtureRwConstants& constants, ConstMatrixView series);

}  // namespace catena::tasks

/// Laplace's approximation as an importance proposal: a Gaussian at each mode of a density, draws from them with
/// heavier tails, reweighted and resampled. Where chains start once the modes are known: those of long series
/// (long_start.h) and those of references that were fitted by least squares (evaluate/reference/fitted_start.h).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/sample/mcmc/kernels/cloud_shape.h"
#include "catena/sample/mcmc/start/maximise.h"
#include "catena/sample/mcmc/target.h"

namespace catena::sample {

struct LaplaceMode {
  double log_weight;  // log p(μ) + log det L, beside the heaviest mode's
  CloudShape shape;
};

/// One for each different maximum that has converged; none where a curvature is not positive definite.
std::vector<LaplaceMode> laplace_modes(const std::vector<Maximum>& maxima);

struct LaplacePopulation {
  Matrix points;
  std::vector<double> log_densities;  // of the target
};

/// So many points of the target, one a row, of which some are the same; none if the Gaussians do not fit: fewer than a
/// tenth of the draws are effective. Evaluates the target once, for all of them.
std::optional<LaplacePopulation> laplace_population(const Target& target, const std::vector<LaplaceMode>& modes,
                                                    std::size_t population, const Streams& streams);

}  // namespace catena::sample

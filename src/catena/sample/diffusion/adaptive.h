/// Steps as long as an error estimate allows, for samplers whose table has one (sampler.h).
#pragma once

#include <cstddef>

#include "catena/sample/diffusion/engine.h"

namespace catena::sample {

struct AdaptiveSettings {
  double tolerance;  // of a step's error, in standard deviations of the level
  std::size_t most_steps;
};

/// From one level to another, all particles of the block with the same steps. The error of a step is its difference
/// from Euler's, in the least standard deviation of the level's density; it falls as the square of the step, so the
/// next one is longer by the root of what is left, within bounds. Of a rejected step the Brownian path is kept: the
/// shorter one gets its part by the law of a Brownian bridge, since forgetting it would favour the noise of easy steps.
/// step_limit if `most_steps` tries do not reach the end; the rest is then made without regard to its error.
Outcome adaptive_steps(Engine& engine, const compose::SeriesScore& score, const Sampler& sampler, const Level& from,
                       const Level& to, const AdaptiveSettings& settings, MatrixView y, const Noise& noise);

}  // namespace catena::sample

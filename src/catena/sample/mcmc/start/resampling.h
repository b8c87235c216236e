/// What a population needs on its way from the prior to the posterior through tempered targets prior × likelihood^β:
/// weights, the next temperature, resampling (Del Moral et al. 2006, docs/refs.bib: delmoral2006).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "catena/core/random.h"

namespace catena::sample {

/// exp(step·log L), the largest scaled to 1; where log L is not finite the weight is 0.
std::vector<double> tempering_weights(std::span<const double> log_likelihoods, double step);

/// (Σw)²/Σw²
double effective_size(std::span<const double> weights);

/// The largest step of β, up to `rest`, that keeps half of those of the population effective that are possible.
double next_tempering_step(std::span<const double> log_likelihoods, double rest);

/// Systematic resampling: as many indices as weights; i comes back about N w_i / Σw times, with one random number for
/// all.
std::vector<std::size_t> resample(std::span<const double> weights, Stream& stream);

}  // namespace catena::sample

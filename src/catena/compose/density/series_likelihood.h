/// The log likelihood of a whole series by a trained density, Σ_t log q(x^(t+1) | x^t, z), for many z at once with
/// gradients: what Markov chains sample together with the prior.
///
/// A separable density knows a series by sums over its transitions (separable_sum.h), at the same cost for any T, but
/// for the point masses' probabilities, if there are any; other densities are summed over the transitions
/// (series_sum.h).
#pragma once

#include <memory>

#include "catena/compose/density/series_density.h"
#include "catena/compose/observed_series.h"
#include "catena/compose/series_state.h"
#include "catena/core/parallel.h"
#include "catena/model/density/density_model.h"

namespace catena::compose {

std::unique_ptr<SeriesDensity> series_likelihood(const model::DensityModel& model, const ObservedSeries& series,
                                                 const Parallel& parallel);

/// What a separable density without point masses needs of a series ("likelihood", "constant"), and the density of that.
SeriesSums likelihood_sums(const model::DensityModel& model, const ObservedSeries& series);
std::unique_ptr<SeriesDensity> likelihood_of_sums(const model::DensityModel& model, const SeriesSums& sums,
                                                  const Parallel& parallel);

}  // namespace catena::compose

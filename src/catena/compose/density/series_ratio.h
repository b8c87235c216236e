/// The log ratio of a whole series by a trained FNRE, Σ_t r(z, c_t), for many z at once with gradients: with the prior
/// it is the posterior up to a constant. The mean over the ensemble's members.
///
/// Separable networks know a series by S = Σ_t ψ(c_t), T and A_m = Σ_t ψ_m(c_t) ψ_m(c_t)ᵀ (model/ratio/network.h):
///
///   Σ_t r(z, c_t) = φ(z)·S + T b(z) − ½ Σ_m φ_m(z)ᵀ A_m φ_m(z),
///
/// at the same cost for any T (separable_sum.h). Joint ones are summed over the transitions (series_sum.h).
#pragma once

#include <memory>

#include "catena/compose/density/series_density.h"
#include "catena/compose/observed_series.h"
#include "catena/compose/series_state.h"
#include "catena/core/parallel.h"
#include "catena/model/ratio/ratio_model.h"

namespace catena::compose {

std::unique_ptr<SeriesDensity> series_ratio(const model::RatioModel& model, const ObservedSeries& series,
                                            const Parallel& parallel);

/// What a separable ratio needs of a series (one row for each member of the ensemble), and the ratio of that.
SeriesSums ratio_sums(const model::RatioModel& model, const ObservedSeries& series);
std::unique_ptr<SeriesDensity> ratio_of_sums(const model::RatioModel& model, const SeriesSums& sums,
                                             const Parallel& parallel);

}  // namespace catena::compose

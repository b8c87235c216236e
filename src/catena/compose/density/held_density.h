/// A density that does not extrapolate: beyond the z that training drew it keeps the value it has at the edge,
///
///   log p̃(z) = log p(z min(1, R/‖z‖)),   R = √max(d, 8) + 1.1.
///
/// Nothing makes the sum over a series of a ratio, a network's free output, fall off where no z was seen: 0.01 z² in
/// each transition outgrows the prior's −½ z² after 50, and in the corners of eight dimensions the sum finds modes that
/// no transition spoke for. Held, the prior alone rules there, and every posterior is proper. R is where 95 in 100 z
/// lie from eight dimensions on, and on one axis the furthest of 10,000. Densities of FNLE integrate to one over
/// x^(t+1) for any z and need no such thing.
#pragma once

#include <memory>

#include "catena/compose/density/series_density.h"

namespace catena::compose {

double held_radius(std::size_t dimension);
std::unique_ptr<SeriesDensity> held_density(std::unique_ptr<SeriesDensity> density);

}  // namespace catena::compose

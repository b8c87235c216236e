/// A density that does not extrapolate: beyond the z that training drew it keeps the value it has at the edge,
///
///   log p̃(z) = log p(clamp(z, −z_max, z_max)), each coordinate on its own.
///
/// A ratio is a network's free output and nothing makes its sum over a series fall off where no z was seen: a term of
/// 0.01 z² in one transition outgrows the prior's −½ z² after 50. Held, the prior alone rules there, and the posterior
/// is always proper. Densities of FNLE integrate to one over x^(t+1) for any z and need no such thing.
#pragma once

#include <memory>

#include "catena/compose/series_density.h"

namespace catena::compose {

std::unique_ptr<SeriesDensity> held_density(std::unique_ptr<SeriesDensity> density, double z_max);

}  // namespace catena::compose

/// Sliced Wasserstein-1 distance (Bonneel et al. 2015, docs/refs.bib: bonneel2015): the mean, over random directions,
/// of the exact Wasserstein-1 distance between the two sets' projections onto the direction.
#pragma once

#include <cstddef>
#include <span>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/core/random.h"

namespace catena::evaluate {

/// ∫ |F⁻¹(u) − G⁻¹(u)| du of two empirical distributions, both sorted in ascending order, of any sizes.
double wasserstein_1(std::span<const double> a, std::span<const double> b);

struct SlicedWasserstein {
  std::size_t projections = 1000;
  bool normalised = false;  ///< each parameter divided by its standard deviation in B (the reference) first
};

/// At least two draws in each set. `normalised` wants B to vary in every parameter.
double sliced_wasserstein(ConstMatrixView a, ConstMatrixView b, const SlicedWasserstein& settings,
                          const Streams& streams, const Parallel& parallel);

}  // namespace catena::evaluate

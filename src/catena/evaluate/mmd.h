/// Maximum mean discrepancy with a Gaussian kernel (Gretton et al. 2012, docs/refs.bib: gretton2012): the unbiased
/// estimate of its square, with the same length scale as the `sbi` package: the median distance of all pairs of draws.
#pragma once

#include "catena/core/array.h"
#include "catena/core/parallel.h"

namespace catena::evaluate {

/// MMD² = Σ_{i≠j} k(aᵢ, aⱼ)/(n(n−1)) + Σ_{i≠j} k(bᵢ, bⱼ)/(m(m−1)) − 2 Σ_{ij} k(aᵢ, bⱼ)/(n·m), k(x, y) =
/// exp(−|x−y|²/2s²). Zero in the mean if the distributions are equal, so that it may be negative. At least two draws in
/// each set.
double mmd_squared(ConstMatrixView a, ConstMatrixView b, const Parallel& parallel);

/// s: the median of |x − y| over all pairs of draws of both sets (the lower one of an even number).
double median_distance(ConstMatrixView a, ConstMatrixView b, const Parallel& parallel);

}  // namespace catena::evaluate

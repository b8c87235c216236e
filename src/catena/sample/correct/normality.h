/// Whether the sum of a statistic over a series is normal, as its law supposes (law.h).
#pragma once

#include "catena/sample/correct/law.h"

namespace catena::sample {

/// How far sums of T of the statistic's values are from normal, as a bound of what the posterior's total variation
/// suffers: the Edgeworth terms of skewness κ₃/√T and excess kurtosis κ₄/T, in the worst direction. z and the records
/// are given: that means and variances differ with them is no skewness or kurtosis of the sum, whose κ₄ is
/// Σ_t E e_t⁴ − 3 σ_t⁴ with e_t around the record's own mean, and a pair has E e_t² e'_t² = σ_t⁴.
double non_normality(const NormalLaw& law, const SimulatedPairs& pairs);

}  // namespace catena::sample

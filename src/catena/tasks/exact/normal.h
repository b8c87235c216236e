/// Logarithms of the normal distribution, as the likelihoods of tasks need them.
#pragma once

namespace catena::tasks::exact {

inline constexpr double log_sqrt_2pi = 0.91893853320467274178;  // ½ log 2π

/// log of the N(mean, sd²) density at x.
double log_normal_density(double x, double mean, double sd);

/// log Φ(x), finite for every finite x.
double log_normal_cdf(double x);

}  // namespace catena::tasks::exact

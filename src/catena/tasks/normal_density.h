/// The normal distribution as the densities of tasks need it: log φ, Φ, log Φ far into the tail, and Φ⁻¹.
#pragma once

namespace catena::tasks {

inline constexpr double log_sqrt_2pi = 0.91893853320467274178;  // ½ log 2π

/// log of the N(mean, sd²) density at x.
double log_normal_density(double x, double mean, double sd);

/// Φ(x), with full relative accuracy in the lower tail down to the smallest doubles.
double normal_cdf(double x);

/// log Φ(x), finite for every finite x.
double log_normal_cdf(double x);

/// Φ⁻¹(p) for 0 < p < 1: Wichura's AS 241 (docs/refs.bib: wichura1988), relative accuracy about 1e-16.
double normal_quantile(double p);

}  // namespace catena::tasks

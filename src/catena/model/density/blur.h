/// Parameters that are known up to a Gaussian blur: all that a noisy θ_a = m z + σ ε says of z ~ N(0, I) is
///
///   z | θ_a ~ N(ẑ, τ² I),   ẑ = m θ_a/(m² + σ²),   τ² = σ²/(m² + σ²),
///
/// whatever the schedule. So the diffused local posterior is, for any proposal that does not depend on θ,
///
///   p(θ_a | x^t, x^(t+1)) ∝ p(θ_a) q_τ(x^(t+1) | x^t, ẑ),   q_τ(· | x^t, ẑ) = E_{z ~ N(ẑ, τ² I)} p(· | x^t, z),
///
/// and its score is the prior's plus m/(m² + σ²) ∇_ẑ log q_τ. As q_τ is a density of x^(t+1), the mean of that gradient
/// over x^(t+1) is exactly zero for *any* network: no error that all transitions share can add up over a series, and
/// q_0 is the likelihood itself.
#pragma once

#include <cstddef>
#include <span>

#include "catena/core/array.h"

namespace catena::model {

/// What a network sees of (ẑ, τ): ẑ and three functions of τ.
constexpr std::size_t blur_features = 3;
/// Writes them; `out` has d + blur_features values.
void blur_inputs(std::span<const double> z_hat, double tau, std::span<float> out);

}  // namespace catena::model

/// Noise schedules: how θ_a forgets θ as a goes from 0 to 1, p(θ_a | θ) = N(m(a) θ, σ(a)² I), and the diffusion
/// dθ_a = f(a) θ_a da + g(a) dW with these marginals. All closed forms; training, composition and samplers share them.
#pragma once

#include <string_view>

#include "catena/core/registry.h"

namespace catena::diffusion {

enum class ScheduleKind { variance_preserving, sub_vp, variance_exploding };

/// With B(a) = ∫₀ᵃ β, β(a) = β_min + a (β_max − β_min), and ρ = σ_max/σ_min (song2021, docs/refs.bib):
///
///   kind                  m          σ²                  f       g²
///   variance_preserving   e^(−B/2)   1 − e^(−B)          −β/2    β
///   sub_vp                e^(−B/2)   (1 − e^(−B))²       −β/2    β (1 − e^(−2B))
///   variance_exploding    1          σ_min² (ρ^2a − 1)   0       2 ln ρ · σ_min² ρ^2a
///
/// Each obeys m' = f m and (σ²)' = 2 f σ² + g², and σ(0) = 0 in all of them: sampling may end as close to 0 as the
/// posterior's width asks for.
struct Schedule {
  ScheduleKind kind = ScheduleKind::variance_preserving;
  double beta_min = 0.1;
  double beta_max = 10;
  double sigma_min = 0.01;
  double sigma_max = 10;  // in standard deviations of the prior, which is N(0, I) in z-space
  double a_min = 0.01;    // the smallest a that training draws; the closed forms hold down to 0

  double m(double a) const;
  double sigma(double a) const;
  double sigma_squared(double a) const;
  double f(double a) const;
  double g_squared(double a) const;

  /// η(a) = σ/m, the noise in units of θ: grows with a, 0 at a = 0. In y = θ_a/m all schedules are one process,
  /// y = θ + η ε, which is why samplers step in η.
  double eta(double a) const;
  /// The a with η(a) = eta; eta ≥ 0.
  double a_at(double eta) const;

  /// λ(a) = max(σ², 0.01), the paper's weight of the denoising loss; the bound keeps the smallest a from vanishing.
  double weight(double a) const;
  /// λ(a) = g², with which the loss bounds the negative log likelihood (song2021ml).
  double likelihood_weight(double a) const;

  bool operator==(const Schedule&) const = default;
};

/// Throws InputError unless 0 < β_min < β_max, 0 < σ_min < σ_max and 0 ≤ a_min < 1.
void check_schedule(std::string_view function, const Schedule& schedule);

struct NamedSchedule {
  std::string_view name;
  std::string_view help;
  Schedule schedule;
};

const Registry<NamedSchedule>& schedules();

}  // namespace catena::diffusion

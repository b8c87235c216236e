/// The diffusion samplers by name: tables of steps over one engine (engine.h). A new sampler is one table and one line
/// of the list in sampler.cpp; tests measure the order that it declares.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/registry.h"

namespace catena::sample {

/// All schedules are one process in y = θ_a/m and η = σ/m (diffusion/schedule.h). With s_y = m s its score,
///
///   probability flow   dy = −η s_y dη             clock η: Euler's method is then DDIM (song2021ddim)
///   reverse diffusion  dy = −s_y dτ + dw,  τ = η²  clock τ: the noise is additive, of variance |Δτ|
///
/// where both run from large η to small.
enum class Clock { eta, tau };

/// One step of a sampler: an explicit Runge–Kutta step on its clock.
struct Sampler {
  static constexpr int most_stages = 3;

  std::string_view name;
  std::string_view help;
  /// Error of the end's moments ~ steps^(−order), for a smooth score. For stochastic samplers the weak order. 0: none
  /// is claimed.
  int order;
  Clock clock = Clock::eta;
  int stages = 1;
  std::array<double, most_stages> nodes{};
  std::array<std::array<double, most_stages>, most_stages> stage_weights{};
  std::array<double, most_stages> weights{};
  /// Langevin steps at every level after the table's step, y ← y + δ s_y + √(2δ) ξ, which pull back to that level's
  /// density whatever the step got wrong (song2021, algorithm 4; song2019). A diffused density's curvature is at
  /// most 1/η², so that a step of δ ≤ η² is stable wherever modes lie and however narrow they are.
  int corrections = 0;

  /// Without a table only the Langevin steps are left, with δ = rate · η²: annealed Langevin. On a Gaussian of variance
  /// v, K of them at each of many levels, η falling by e^(−L), leave a relative excess of variance of
  /// 2L/(rate · K) + rate η²/(2 (v + η²)): the first part falls with the number of levels, the second is small at
  /// the end. With a table δ = rate · |Δτ|, whose error is of the table's order.
  bool predicts() const { return stages > 0; }
  /// Whether the table has an error estimate, for adaptive steps: its result less that of Euler's step.
  bool adaptive() const { return stages > 1; }
  /// Reverse diffusion draws one normal vector a step; nodes must then be 0 or 1, where the path's noise is known.
  bool stochastic() const { return clock == Clock::tau; }
};

const Registry<Sampler>& samplers();
/// The names of those with Langevin steps of their own, and of those that can adapt their steps.
std::vector<std::string> correcting_samplers();
std::vector<std::string> adaptive_samplers();

}  // namespace catena::sample

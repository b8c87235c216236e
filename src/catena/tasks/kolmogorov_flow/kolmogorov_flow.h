/// kolmogorov_flow: θ = (ρ, Re), a fluid of density ρ and Reynolds number Re = 1/ν on [0, 2π]² with periodic borders,
///   ∂_t u = −(u·∇)u + (ν/ρ) ∇²u + (f − c u)/ρ − ∇p,   ∇·u = 0,   f = F (sin(k y), 0),
/// pushed along x by a force that is constant in time and slowed by friction c; then noise N(0, σ²) on every value. The
/// prior is ρ = sigmoid(z₁), Re = 1 + 1999 sigmoid(z₂) with z ~ N(0, I).
///
/// A state is both components on an n × n staggered grid, h = 2π/n: u[i][j] at ((i+1)h, (j+½)h), the face between cells
/// i and i + 1, then v[i][j] at ((i+½)h, (j+1)h); x is the slow index. The scheme is that of Kochkov et al. (2021,
/// docs/refs.bib: kochkov2021), solver.h has it. Given θ a transition is a run of the solver plus noise, so that its
/// density is known: N(x^(t+1); solver(x^t, θ), σ² I).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "catena/core/config.h"
#include "catena/core/random.h"
#include "catena/tasks/task.h"

namespace catena::tasks::kolmogorov_flow {

class Solver;  // solver.h

/// The side of the grid: vectors of lanes run along it.
struct GridSide {
  static constexpr std::array sides{32, 64, 128};
  bool holds(int value) const { return std::ranges::find(sides, value) != sides.end(); }
  std::string text() const { return "32, 64 or 128"; }
};

struct Options {
  int grid = 64;
  int inner_steps = 100;
  double sigma = 0.005;
  double forcing = 1;
  int forcing_wavenumber = 4;
  double friction = 0.1;
  double peak_wavenumber = 3;
  double largest_speed = 3;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.grid, "grid", "cells along each side", GridSide());
    visit(c.inner_steps, "inner_steps", "solver steps of 0.001 in a transition", between(1, 10000));
    visit(c.sigma, "sigma", "standard deviation of what is added to every velocity after a transition", positive());
    visit(c.forcing, "forcing", "largest force, along x", not_negative());
    visit(c.forcing_wavenumber, "forcing_wavenumber", "waves of the force across the domain", between(1, 16));
    visit(c.friction, "friction", "linear damping", not_negative());
    visit(c.peak_wavenumber, "peak_wavenumber", "where the spectrum of initial states has its peak",
          between(1.0, 16.0));
    visit(c.largest_speed, "largest_speed", "of an initial state", positive());
  }

  std::size_t side() const { return static_cast<std::size_t>(grid); }  ///< n
  std::size_t states() const { return 2 * side() * side(); }
};

struct Constants {
  double dt = 0.001;
  double lowest_reynolds = 1, reynolds_range = 1999;
  /// A value that left the finite numbers is replaced: NaN by 0, ±∞ by ± this.
  double instead_of_infinity = 3;
};

/// One transition of every lane: `solver` is that of the options.
void step(const Solver& solver, double sigma, const simulate::StepInput& input, Stream& stream, StateBlock next);

/// x⁰: white noise in each component, times e^(−(log k − log k₀ − s²)²/2s²)/k² in Fourier space (a log-normal density
/// with its peak at k₀ and s² = 0.25, over k), then three times: without divergence, and scaled to the largest speed.
void initial_state(const Solver& solver, const Options& options, Stream& stream, std::span<double> state);

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series,
                                             const Constants& constants = {});

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::kolmogorov_flow

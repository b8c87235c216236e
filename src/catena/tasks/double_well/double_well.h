/// double_well: every coordinate on its own, dx = (e^(θ₁/2) x − e^(θ₂/2) x³) dt + dw, Euler–Maruyama. The density of k
/// Gaussian inner steps is a chain of k − 1 one-dimensional integrals, done by quadrature on a grid.
#pragma once

#include <cstddef>
#include <memory>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::double_well {

/// Every number on which the paper's text and its code differ is an option.
struct Options {
  double start = -0.5;
  double proposal_width = 2.5;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.start, "start", "series begin at start * (1, -1, 1, -1) (text: 1)", between(-100.0, 100.0));
    visit(c.proposal_width, "proposal_width", "the fixed proposal is uniform between minus this and this", positive());
  }
};

struct Constants {
  std::size_t states = 4;
  int steps = 10;  ///< Euler–Maruyama steps of a transition
  double dt = 0.005;
};

/// How fine the quadrature is, for tests of its convergence.
struct Quadrature {
  double spacing = 0.65;  ///< in units of an inner step's standard deviation; see likelihood.cpp
  double padding = 7.5;   ///< how far from a straight path, in standard deviations of a bridge
};

/// One transition of every lane.
void step(const simulate::StepInput& input, Stream& stream, StateBlock next);

std::unique_ptr<SeriesLikelihood> likelihood(ConstMatrixView series, const Constants& constants = {},
                                             const Quadrature& quadrature = {});

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::double_well

/// double_well: every coordinate on its own, dx = (e^(θ₁/2) x − e^(θ₂/2) x³) dt + dw, Euler–Maruyama. The density of k
/// Gaussian inner steps is a chain of k − 1 one-dimensional integrals, done by quadrature on a grid.
#pragma once

#include <memory>

#include "catena/tasks/density.h"

namespace catena::tasks {

struct DoubleWellConstants {
  std::size_t dim = 4;
  int steps = 10;
  double dt = 0.005;
};

/// How fine the quadrature is, for tests of its convergence.
struct DoubleWellGrid {
  double spacing = 0.65;  ///< in units of an inner step's standard deviation; see double_well_density.cpp
  double padding = 7.5;   ///< how far from a straight path, in standard deviations of a bridge
};

std::unique_ptr<SeriesLikelihood> double_well_likelihood(const DoubleWellConstants& constants, ConstMatrixView series,
                                                         const DoubleWellGrid& grid = {});

}  // namespace catena::tasks

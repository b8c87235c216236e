/// The loops of solver.h over a grid, for all instruction sets: fluxes and forces, divergence, the gradient of the
/// pressure. Internal to kolmogorov_flow.
#pragma once

#include "catena/tasks/kolmogorov_flow/solver.h"

namespace catena::tasks::kolmogorov_flow {

/// The two values beyond each end of a row of n.
inline void fill_margins(float* row, std::size_t n) {
  row[-2] = row[n - 2];
  row[-1] = row[n - 1];
  row[n] = row[0];
  row[n + 1] = row[1];
}

/// Steps 1 and 2: (u, v) to (u*, v*), whose margins are filled.
void advance(const StepCoefficients& coefficients, const float* force, Flow& flow);

/// q = δu* + δv*
void take_divergence(Flow& flow);

/// Rows i and n − 1 − i become their sum and their difference, in this order for i < n/2: B from the left.
void pair_rows(std::size_t n, Field& field);
/// Likewise values j and n − 1 − j of every row: B from the right.
void pair_columns(std::size_t n, Field& field);

/// field ∘ m, m: n × n
void multiply(const float* m, std::size_t n, Field& field);

/// (u, v) = (u*, v*) − δq, margins filled.
void subtract_gradient(Flow& flow);

}  // namespace catena::tasks::kolmogorov_flow

/// Maxima of −½ ‖r(z)‖² − ½ ‖z‖² for residuals r of many terms, each of which costs a run of a simulator: Gauss–Newton
/// steps, damped as Levenberg and Marquardt do, with the Jacobian of r by differences. With r the standardised
/// residuals of the transitions of a series this is its posterior, far narrower than the prior where the states are
/// large.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/sample/mcmc/start/maximise.h"
#include "catena/sample/mcmc/target.h"

namespace catena::sample {

struct Residuals {
  std::size_t terms;                                                                             // T
  std::size_t per_term;                                                                          // numbers in r_t
  std::function<void(std::span<const double> z, std::size_t t, std::span<double> out)> of_term;  // from any thread
};

struct LeastSquaresSettings {
  double bound = 5;  // no coordinate leaves [−bound, bound]
  int most_steps = 50;
};

/// −½ ‖r(z)‖² − ½ ‖z‖² of each row of z; NaN or −∞ where a residual is not finite.
std::vector<double> log_densities(const Residuals& residuals, ConstMatrixView z, const Parallel& parallel);

/// One maximum for each row of `starts`; its curvature is Gauss's and Newton's, JᵀJ + I.
std::vector<Maximum> least_squares(const Residuals& residuals, ConstMatrixView starts, const Parallel& parallel,
                                   const LeastSquaresSettings& settings = {});

}  // namespace catena::sample

/// stationary_ar1: x' = c x + θ + ε, ε ~ N(0, I), with x⁰ from the stationary distribution N(θ/(1−c), I/(1−c²)), which
/// says as much as (1+c)/(1−c) transitions: gaussian_rw with an initial state that depends on θ. Conjugate.
#pragma once

#include <memory>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::stationary_ar1 {

struct Options {
  int dim = 1;
  double proposal_sd = 10;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.dim, "dim", "number of states and of parameters", between(1, 1000));
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the fixed proposal", positive());
  }
};

inline constexpr double coefficient = 0.9;  // c

/// The first row of the series is x⁰; it counts as the first of T + 1 factors unless `from_start` is false.
std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series, bool from_start = true);

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::stationary_ar1

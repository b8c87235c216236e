/// Settings of the task stationary_ar1: gaussian_rw whose series start in its stationary distribution, which depends on
/// θ. The example of a parameter-dependent initial state.
#pragma once

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

inline constexpr double stationary_ar1_coefficient = 0.9;  // c

struct StationaryAr1Options {
  int dim = 1;
  double proposal_sd = 10;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.dim, "dim", "number of states and of parameters", between(1, 1000));
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the default proposal", positive());
  }
};

Task make_stationary_ar1(const StationaryAr1Options& options = {});

}  // namespace catena::tasks

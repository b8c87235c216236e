/// coin_walk: x^(t+1) = x^t + tanh θ + ε, ε ~ N(0, 1), for the test that CONTRIBUTING's table is true.
#pragma once

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::coin_walk {

struct Options {
  double proposal_sd = 3;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the default proposal", positive());
  }
};

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::coin_walk

/// Settings of the task ti_gaussian_rw; every number on which the paper's text and its code differ is one of them.
#pragma once

#include <cstddef>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

struct TiGaussianRwOptions {
  int dim = 1;
  double proposal_sd = 10;
  int times = 100;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.dim, "dim", "number of states and of parameters", between(1, 1000));
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the default proposal", positive());
    visit(c.times, "times", "the default proposal draws t from 0 to one less than this", at_least(1));
  }
};

Task make_ti_gaussian_rw(const TiGaussianRwOptions& options = {});

}  // namespace catena::tasks

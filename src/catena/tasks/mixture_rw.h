/// Settings of the task mixture_rw; every number on which the paper's text and its code differ is one of them.
#pragma once

#include <cstddef>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

struct MixtureRwOptions {
  int dim = 5;
  double sigma = 0.5;
  double proposal_sd = 10;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.dim, "dim", "number of states and of parameters", between(1, 1000));
    visit(c.sigma, "sigma", "standard deviation of the noise (text: 1)", positive());
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the default proposal (text: sqrt 10)", positive());
  }
};

Task make_mixture_rw(const MixtureRwOptions& options = {});

}  // namespace catena::tasks

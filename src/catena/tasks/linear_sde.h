/// Settings of the task linear_sde; every number on which the paper's text and its code differ is one of them.
#pragma once

#include <cstddef>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

struct LinearSdeOptions {
  int dim = 2;
  double drift_scale = 0.5;
  double proposal_sd = 0.5;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.dim, "dim", "number n of states, with 2n^2 parameters (text: 3)", between(1, 4));
    visit(c.drift_scale, "drift_scale", "factor s of M_1 in the drift (text: 1)", positive());
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the default proposal (text: 1)", positive());
  }
};

inline constexpr std::size_t linear_sde_steps = 20;
inline constexpr double linear_sde_dt = 0.001;

Task make_linear_sde(const LinearSdeOptions& options = {});

}  // namespace catena::tasks

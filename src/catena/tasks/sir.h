/// Settings of the task sir; every number on which the paper's text and its code differ is one of them.
#pragma once

#include <cstddef>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

struct SirOptions {
  double proposal_width = 5;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.proposal_width, "proposal_width", "the default proposal is uniform between 0 and this", positive());
  }
};

inline constexpr std::size_t sir_steps = 5;
inline constexpr double sir_dt = 0.01;
inline constexpr double sir_noise = 0.01;          // of S and R
inline constexpr double sir_infected_noise = 0.1;  // of I, times I

Task make_sir(const SirOptions& options = {});

}  // namespace catena::tasks

/// Settings of the task periodic_sde; every number on which the paper's text and its code differ is one of them.
#pragma once

#include <cstddef>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

struct PeriodicSdeOptions {
  bool minus_sign = true;
  double proposal_sd = 1;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.minus_sign, "minus_sign",
          "A has -theta_1^2, so that the process oscillates (text: prints it without the sign)", anything());
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the default proposal", positive());
  }
};

inline constexpr std::size_t periodic_sde_steps = 20;
inline constexpr double periodic_sde_dt = 0.005;
inline constexpr double periodic_sde_noise = 0.1;

Task make_periodic_sde(const PeriodicSdeOptions& options = {});

}  // namespace catena::tasks

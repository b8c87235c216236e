/// Settings of the task lotka_volterra; every number on which the paper's text and its code differ is one of them.
#pragma once

#include <cstddef>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

struct LotkaVolterraOptions {
  double sigma = 0.1;
  double proposal_width = 10;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.sigma, "sigma", "strength of the noise (text: 0.05)", positive());
    visit(c.proposal_width, "proposal_width", "the default proposal is uniform between 0 and this", positive());
  }
};

inline constexpr std::size_t lotka_volterra_steps = 5;
inline constexpr double lotka_volterra_dt = 0.02;

Task make_lotka_volterra(const LotkaVolterraOptions& options = {});

}  // namespace catena::tasks

/// Settings of the task double_well; every number on which the paper's text and its code differ is one of them.
#pragma once

#include <cstddef>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

struct DoubleWellOptions {
  double start = -0.5;
  double proposal_width = 2.5;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.start, "start", "series begin at start * (1, -1, 1, -1) (text: 1)", between(-100.0, 100.0));
    visit(c.proposal_width, "proposal_width", "the default proposal is uniform between minus this and this",
          positive());
  }
};

inline constexpr std::size_t double_well_states = 4;
inline constexpr std::size_t double_well_steps = 10;
inline constexpr double double_well_dt = 0.005;

Task make_double_well(const DoubleWellOptions& options = {});

}  // namespace catena::tasks

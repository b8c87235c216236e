/// Settings of the task ar, an autoregression of order m with unknown coefficients: the example of a chain of higher
/// order.
#pragma once

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks {

inline constexpr double ar_scale = 0.3;  // s: prior standard deviation of a coefficient, so that most series are stable

struct ArOptions {
  int order = 2;
  double proposal_sd = 2;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.order, "order", "how many of the last states a transition depends on", between(1, 100));
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the default proposal", positive());
  }
};

Task make_ar(const ArOptions& options = {});

}  // namespace catena::tasks

/// ar: x^(t+1) = s (θ_1 x^t + θ_2 x^(t−1) + … + θ_m x^(t−m+1)) + ε, ε ~ N(0, 1), an autoregression of order m with
/// unknown coefficients; the first m states are 0, …, 0, 1. The example of a chain of higher order.
#pragma once

#include <memory>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::ar {

struct Options {
  int order = 2;
  double proposal_sd = 2;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.order, "order", "how many of the last states a transition depends on", between(1, 100));
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the fixed proposal", positive());
  }
};

inline constexpr double scale = 0.3;  // s: prior standard deviation of a coefficient, so that most series are stable

/// `series` has the first m states and at least one more.
std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series);

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::ar

/// seasonal_ar: x^(t+1) = 0.8 x^t + θ_1 + θ_2 cos(2πt/P) + 0.5 ε, ε ~ N(0, 1), x⁰ = 0: an autoregression with a season
/// of P steps, whose size is unknown. The example of a season that networks have to see; its posterior is conjugate.
#pragma once

#include <memory>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::seasonal_ar {

struct Options {
  double period = 12;
  double proposal_sd = 5;
  int times = 100;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.period, "period", "steps after which the season is the same again", positive());
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the fixed proposal", positive());
    visit(c.times, "times", "the fixed proposal draws t from 0 to one less than this", at_least(1));
  }
};

inline constexpr double coefficient = 0.8, noise_sd = 0.5;

/// The first row of the series is the state at t = `first_time`.
std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series, double first_time = 0);

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::seasonal_ar

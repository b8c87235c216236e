/// ti_gaussian_rw: x^(t+1) = (c + 1/(t+1)) x^t + θ + ε, t = 0, 1, 2, …, ε ~ N(0, I): a transition that depends on time.
/// Conjugate, as gaussian_rw is.
#pragma once

#include <memory>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::ti_gaussian_rw {

/// Every number on which the paper's text and its code differ is an option.
struct Options {
  int dim = 1;
  double proposal_sd = 10;
  int times = 100;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.dim, "dim", "number of states and of parameters", between(1, 1000));
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the fixed proposal", positive());
    visit(c.times, "times", "the fixed proposal draws t from 0 to one less than this", at_least(1));
  }
};

/// The first row of the series is the state at t = `first_time`.
std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series, double first_time = 0);

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::ti_gaussian_rw

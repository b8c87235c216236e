/// gaussian_rw: x' = c x + θ + ε, ε ~ N(0, I). The simplest task: its posterior is conjugate, known in closed form.
#pragma once

#include <memory>
#include <span>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::gaussian_rw {

/// Every number on which the paper's text and its code differ is an option.
struct Options {
  int dim = 1;
  double proposal_sd = 10;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.dim, "dim", "number of states and of parameters", between(1, 1000));
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the fixed proposal (text: sqrt 10)", positive());
  }
};

/// Over k steps, x^(t+k) = c^k x^t + (1 − c^k)/(1 − c) θ + ε, ε ~ N(0, (1 − c^2k)/(1 − c²) I); `steps` are the k from
/// each row to the next, and 1 where they are not given.
std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series,
                                             std::span<const double> steps = {});

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::gaussian_rw

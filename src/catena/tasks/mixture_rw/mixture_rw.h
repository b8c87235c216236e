/// mixture_rw: x' = x + uθ + σε, ε ~ N(0, I), u = ±1 with equal chance, the same u for all coordinates. The transition
/// density is a mixture of two Gaussians; θ and −θ explain a series equally well, so the posterior has two modes.
#pragma once

#include <memory>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::mixture_rw {

/// Every number on which the paper's text and its code differ is an option.
struct Options {
  int dim = 5;
  double sigma = 0.5;
  double proposal_sd = 10;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.dim, "dim", "number of states and of parameters", between(1, 1000));
    visit(c.sigma, "sigma", "standard deviation of the noise (text: 1)", positive());
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the fixed proposal (text: sqrt 10)", positive());
  }
};

/// One transition of every lane.
void step(double sigma, const simulate::StepInput& input, Stream& stream, StateBlock next);

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series);

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::mixture_rw

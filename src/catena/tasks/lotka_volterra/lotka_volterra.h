/// lotka_volterra: θ = (α, β, γ, δ), each 1 + 2 sigmoid(z) with z ~ N(0, 1); prey dx = (αx − βxy) dt + σxy dw₁,
/// predators dy = (−γy + δxy) dt + σxy dw₂, Euler–Maruyama, then clipped at 0. The density over the inner states is
/// estimated without bias by a guided bridge.
#pragma once

#include <cstddef>
#include <memory>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::lotka_volterra {

/// Every number on which the paper's text and its code differ is an option.
struct Options {
  double sigma = 0.1;
  double proposal_width = 10;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.sigma, "sigma", "strength of the noise (text: 0.05)", positive());
    visit(c.proposal_width, "proposal_width", "the fixed proposal is uniform between 0 and this", positive());
  }
};

struct Constants {
  int steps = 5;  ///< Euler–Maruyama steps of a transition
  double dt = 0.02;
  double least_rate = 1, rate_range = 2;  ///< rates are between 1 and 1 + 2
};

/// One transition of every lane.
void step(double sigma, const simulate::StepInput& input, Stream& stream, StateBlock next);

/// particles: bridges per transition and estimate. From a state with x = 0 or y = 0 there is no noise at all: such a
/// transition pins γ (or α) exactly; one that cannot come from the simulator is an InputError.
std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series, std::size_t particles = 2,
                                             const Constants& constants = {});

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::lotka_volterra

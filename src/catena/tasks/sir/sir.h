/// sir: θ = (γ, β), each 2 sigmoid(z) with z ~ N(0, 1); dS = −βSI dt + σ dw₁, dI = (βSI − γI) dt + τI dw₂, dR = γI dt +
/// σ dw₃, Euler–Maruyama, then clipped at 0. R is integrated in closed form given I; (S, I) by a guided bridge, without
/// bias.
#pragma once

#include <cstddef>
#include <memory>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::sir {

/// Every number on which the paper's text and its code differ is an option.
struct Options {
  double proposal_width = 5;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.proposal_width, "proposal_width", "the fixed proposal is uniform between 0 and this", positive());
  }
};

struct Constants {
  int steps = 5;  ///< Euler–Maruyama steps of a transition
  double dt = 0.01;
  double noise = 0.01;          ///< σ, of S and R
  double infected_noise = 0.1;  ///< τ, of I, times I
  double largest_rate = 2;      ///< rates are between 0 and 2
};

/// One transition of every lane.
void step(const simulate::StepInput& input, Stream& stream, StateBlock next);

/// particles: bridges per transition and estimate. From I = 0 the infection stays 0 and nothing depends on θ.
std::unique_ptr<SeriesLikelihood> likelihood(ConstMatrixView series, std::size_t particles = 2,
                                             const Constants& constants = {});

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::sir

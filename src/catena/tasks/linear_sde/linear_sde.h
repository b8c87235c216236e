/// linear_sde: dx = (s M₁ − 2I) x dt + B dw, B = ½M₂ + ½I, with M₁, M₂ the halves of θ as row-major n×n matrices;
/// Euler–Maruyama: linear-Gaussian. The law depends on B through BBᵀ only.
#pragma once

#include <memory>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::linear_sde {

/// Every number on which the paper's text and its code differ is an option.
struct Options {
  int dim = 2;
  double drift_scale = 0.5;
  double proposal_sd = 0.5;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.dim, "dim", "number n of states, with 2n^2 parameters (text: 3)", between(1, 4));
    visit(c.drift_scale, "drift_scale", "factor s of M_1 in the drift (text: 1)", positive());
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the fixed proposal (text: 1)", positive());
  }
};

struct Constants {
  int steps = 20;  ///< Euler–Maruyama steps of a transition
  double dt = 0.001;
  double drift_shift = 2;        ///< the 2 of −2I
  double diffusion_scale = 0.5;  ///< the ½ of ½M₂
  double diffusion_shift = 0.5;  ///< the ½ of ½I
};

/// One transition of every lane.
void step(double drift_scale, const simulate::StepInput& input, Stream& stream, StateBlock next);

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series,
                                             const Constants& constants = {});

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::linear_sde

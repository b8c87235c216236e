/// periodic_sde: dx = A x dt + σ dw, A = [[0, −θ₁²], [θ₂², 0]], Euler–Maruyama: linear-Gaussian. Only θ₁² and θ₂²
/// matter, so the posterior has four symmetric modes.
#pragma once

#include <memory>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::periodic_sde {

/// Every number on which the paper's text and its code differ is an option.
struct Options {
  bool minus_sign = true;
  double proposal_sd = 1;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.minus_sign, "minus_sign",
          "A has -theta_1^2, so that the process oscillates (text: prints it without the sign)", anything());
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the fixed proposal", positive());
  }

  double sign() const { return minus_sign ? -1 : 1; }  ///< of A₁₂
};

struct Constants {
  int steps = 20;  ///< Euler–Maruyama steps of a transition
  double dt = 0.005;
  double noise = 0.1;  ///< σ
};

/// One transition of every lane; sign: of A₁₂.
void step(double sign, const simulate::StepInput& input, Stream& stream, StateBlock next);

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series,
                                             const Constants& constants = {});

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::periodic_sde

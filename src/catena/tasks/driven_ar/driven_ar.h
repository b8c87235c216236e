/// driven_ar: x^(t+1) = 0.8 x^t + θ_1 + θ_2 u_t + 0.5 ε, ε ~ N(0, 1), x⁰ = 0: an autoregression that a known input
/// drives. The example of covariates; its posterior is conjugate. Where nobody gives a table of u, it is a fixed
/// autoregression of its own, u_(t+1) = 0.7 u_t + √(1 − 0.7²) ε, of 200 rows, drawn once and for all.
#pragma once

#include <memory>

#include "catena/core/config.h"
#include "catena/tasks/task.h"

namespace catena::tasks::driven_ar {

struct Options {
  double proposal_sd = 5;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.proposal_sd, "proposal_sd", "standard deviation of the fixed proposal", positive());
  }
};

inline constexpr double coefficient = 0.8, noise_sd = 0.5;
inline constexpr double input_coefficient = 0.7;
inline constexpr std::size_t input_rows = 200;
inline constexpr std::uint64_t input_seed = 1;

/// A row of `covariates` for each state; that of the last is not looked at.
std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series,
                                             ConstMatrixView covariates);

Task make(const Options& options = {});
TaskEntry entry();

}  // namespace catena::tasks::driven_ar

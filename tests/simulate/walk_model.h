/// A small model for the tests of this folder (tasks/ lies above simulate/): x' = 0.5 x + θ + ε in n dimensions, with a
/// step that may be made to fail or to die.
#pragma once

#include <functional>
#include <limits>

#include "catena/simulate/model.h"

namespace catena::simulate {

struct WalkStepper {
  std::function<void()> at_each_call = [] {};
  double not_finite_above = std::numeric_limits<double>::infinity();  // of x_1

  void step(const StepInput& input, Stream& stream, StateBlock next) const {
    at_each_call();
    fill_normal(stream, next);
    for (std::size_t i = 0; i < next.features; ++i) {
      for (std::size_t l = 0; l < next.lanes; ++l) next(i, l) += 0.5 * input.state(i, l) + input.theta(i, l);
    }
    for (std::size_t l = 0; l < next.lanes; ++l) {
      if (input.state(0, l) > not_finite_above) next(0, l) = std::numeric_limits<double>::quiet_NaN();
    }
  }
};

inline Model walk_model(std::size_t n, WalkStepper stepper = {}) {
  Model model;
  const auto parameters = numbered_names("theta", n), states = numbered_names("x", n);
  model.prior = prior::Prior::standard(parameters);
  model.simulator = make_simulator("walk", parameters, states, std::move(stepper));
  model.initial_state = [](Stream& stream, std::span<double> state) {
    for (double& value : state) value = stream.uniform();
  };
  prior::Prior proposal;
  for (const auto& name : states) proposal.add({name}, prior::normal(0, 1));
  model.proposal = {{"proposal", "fixed"}, {"states", proposal.to_json()}};
  model.fixed_proposal = model.proposal;
  return model;
}

}  // namespace catena::simulate

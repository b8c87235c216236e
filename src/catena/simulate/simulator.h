/// What a simulator is: one transition x^t → x^(t+1) given θ, for many simulations at once.
///
/// Simulations lie along the lanes, in doubles: coordinate i of simulation l is block(i, l). A built-in task vectorises
/// over the lanes; a plug-in or a Python callable gets the same block.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/core/state_lanes.h"

namespace catena::simulate {

/// What one transition may depend on: θ [d × lanes], the m last states x^t, x^(t−1), … [mn × lanes, latest first],
/// t and Δt (one value per lane, padded as the blocks are; null unless the simulator says that it uses them), and the
/// known inputs u_t [k × lanes] of a simulator that has names for them.
struct StepInput {
  ConstStateBlock theta;
  ConstStateBlock state;
  const double* time = nullptr;
  const double* step = nullptr;
  ConstStateBlock covariates = {};
};

/// Anything that can make one transition: step(input, stream, next) writes x^(t+1) for every lane of `next`, drawing
/// all its randomness from `stream`. It keeps no state between calls and may be called from several threads at once.
/// Every block it gets is padded (core/array.h) and `next` overlaps no input.
template <class S>
concept Stepper = requires(const S& simulator, const StepInput& input, Stream& stream, StateBlock next) {
  simulator.step(input, stream, next);
};

/// A stepper together with what must be known about it.
struct Simulator {
  std::string name;
  std::vector<std::string> parameter_names;  // d of them
  std::vector<std::string> state_names;      // n of them
  bool uses_time = false;
  std::function<void(const StepInput&, Stream&, StateBlock)> step;
  std::size_t order = 1;   // m: how many of the last states a transition depends on
  bool uses_step = false;  // a transition takes the time Δt that it is given; else it is one step, Δt = 1
  std::vector<std::string> covariate_names = {};  // k of them: the known inputs u_t that a transition takes

  std::size_t parameters() const { return parameter_names.size(); }
  std::size_t states() const { return state_names.size(); }
  std::size_t covariates() const { return covariate_names.size(); }
  std::size_t window() const { return order * states(); }  ///< mn
};

/// The m last states one transition later: x^(t+1) in front, the oldest gone. First `next.lanes` lanes.
void advance_window(StateBlock window, ConstStateBlock next);

/// Makes a simulator of any stepper; the simulator keeps a copy of it.
template <Stepper S>
Simulator make_simulator(std::string name, std::vector<std::string> parameter_names,
                         std::vector<std::string> state_names, S stepper, bool uses_time = false) {
  auto kept = std::make_shared<const S>(std::move(stepper));
  return {std::move(name),
          std::move(parameter_names),
          std::move(state_names),
          uses_time,
          [kept](const StepInput& input, Stream& stream, StateBlock next) { kept->step(input, stream, next); },
          /*order=*/1,
          /*uses_step=*/false,
          /*covariate_names=*/{}};
}

/// prefix_1, prefix_2, …, prefix_count.
std::vector<std::string> numbered_names(std::string_view prefix, std::size_t count);

}  // namespace catena::simulate

/// A model: a simulator, the prior on its parameters, where its series start, and what is known about good proposals.
/// Built-in tasks are models with a name and a version; a plug-in gives one too.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/prior/prior.h"
#include "catena/simulate/simulator.h"

namespace catena::simulate {

struct Model {
  Simulator simulator;
  prior::Prior prior;
  std::function<void(Stream&, std::span<double> state)> initial_state;  // draws x⁰ (the first m states, latest first)
  nlohmann::json proposal;        // where none is asked for, if not the usual one (proposal.h, default_proposal)
  nlohmann::json fixed_proposal;  // {"proposal": "fixed", "states": …} that suits this model, where one is known
  nlohmann::json predictive = nlohmann::json::object();  // settings of the predictive proposal that suit this model
  /// Draws the first m states of every lane, latest first, where they depend on θ; then `initial_state` is not used.
  std::function<void(ConstStateBlock theta, Stream&, StateBlock window)> initial_given_theta = nullptr;
  /// Of a simulator with covariates: rows of them in time order, where nobody gives others; none: somebody must.
  Matrix covariates = {};
  bool single_precision = false;  // states have no more digits than a float: files store them so

  /// Channels, rows and columns of a state that is a field on a grid, as "2x64x64"; empty: it is none.
  std::string state_shape = {};

  bool has_initial_state() const { return initial_state || initial_given_theta; }
  /// The first m states of every lane of `window`.
  void draw_initial(ConstStateBlock theta, Stream& stream, StateBlock window) const;
};

/// Where the prior has known values, or parts that follow from others (prior.h): the simulator's step and initial
/// states see them beside θ from now on, and its parameters are those of the prior. Whoever makes a model calls it
/// once.
void complete_parameters(Model& model);

/// An initial state that is always the same.
std::function<void(Stream&, std::span<double>)> fixed_state(std::vector<double> state);

/// Series with `transitions` transitions after their first m states, one for each row of θ, all drawn from one stream:
/// element s is a (T + m) × n matrix. A series that leaves the finite numbers stays as it comes. Those of a simulator
/// with covariates walk through the tables in time order, series s through table s mod their number (none: the model's
/// own): row t of a series has row t of the table, and after its last row comes its first again.
std::vector<Matrix> simulate_series(const Model& model, ConstMatrixView theta, std::size_t transitions, Stream& stream,
                                    std::span<const Matrix> covariates = {});

/// The given tables of covariates or, if there are none, the model's own; empty for a simulator without covariates.
/// Throws InputError, whose sentence begins with `function`, if one is needed and there is none.
std::span<const Matrix> tables_for(std::string_view function, const Model& model, std::span<const Matrix> given);

}  // namespace catena::simulate

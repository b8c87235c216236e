/// Posterior predictive series: what the simulator makes of draws from the posterior, to lay beside what was observed.
/// `catena predict` writes them, the report draws them.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/random.h"
#include "catena/files/netcdf/netcdf.h"
#include "catena/model/density/density_model.h"
#include "catena/simulate/series.h"
#include "catena/simulate/simulator.h"

namespace catena::evaluate {

/// One (T + 1) × n matrix for each draw θ_k. Row 0 is the observed x⁰.
struct PredictiveSeries {
  std::vector<Matrix> run;       ///< x^(t+1) ~ p(· | x^t, θ_k), on and on from x⁰
  std::vector<Matrix> one_step;  ///< x^(t+1) ~ p(· | observed x^t, θ_k): where x^t is missing, from the step before
};

/// The first state of `observed` must be known. Its times count in units of `step_length` (simulate/paths.h): a
/// simulator that takes the length of its step makes one step from row to row, another as many as fit, to the nearest
/// whole number. Draws that leave the finite numbers stay as they come. The result is a function of the
/// streams alone, whatever the number of threads.
PredictiveSeries predict(const simulate::Simulator& simulator, ConstMatrixView theta,
                         const simulate::SeriesView& observed, double step_length, const Streams& streams,
                         const Parallel& parallel, Progress& progress = silent_progress());

/// A trained density as a simulator of its own. `model` must outlive it.
simulate::Simulator surrogate_simulator(const model::DensityModel& model);

/// ArviZ's group `posterior_predictive`: the variables `series` (run) and `one_step` over (chain, draw, time, state).
files::Group predictive_group(const PredictiveSeries& series, const std::vector<std::string>& state_names);

}  // namespace catena::evaluate

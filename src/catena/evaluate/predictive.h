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
#include "catena/simulate/paths.h"
#include "catena/simulate/series.h"
#include "catena/simulate/simulator.h"

namespace catena::evaluate {

/// One matrix for each draw θ_k, a state a row. Of a chain of order m the first m rows are the observed ones, and
/// otherwise row 0 is.
struct PredictiveSeries {
  std::vector<Matrix> run;       ///< x^(t+1) ~ p(· | x^t, θ_k), on and on from x⁰
  std::vector<Matrix> one_step;  ///< x^(t+1) ~ p(· | observed x^t, θ_k): where x^t is missing, from the step before
  std::vector<Matrix> forecast;  ///< on and on from the last observed state: as many rows as the horizon
  std::vector<double> forecast_times;  ///< of its rows
};

struct PredictionPlan {
  double step_length = 1;       ///< of one step of the simulator on the scale of the times (simulate/paths.h)
  std::size_t horizon = 0;      ///< steps to forecast beyond the last row
  ConstMatrixView starts = {};  ///< where each draw's series begins, latest state first, if not in the observed states
  ConstMatrixView covariates = {};  ///< of the steps ahead: rows that follow those of the series
};

/// With covariates every row is one step after the one before it, and each row from which a step is made must have its
/// own: those of a forecast are rows of the series beyond its last observed state, which is where the forecast begins
/// then, and those of the plan. The first m states of `observed` must be known, for a chain of order m, unless the plan
/// has `starts`. A simulator that takes the length of its step makes one step from row to row, another as many as fit,
/// to the nearest whole number. Draws that leave the finite numbers stay as they come. The result is a function of the
/// streams alone, whatever the number of threads.
PredictiveSeries predict(const simulate::Simulator& simulator, ConstMatrixView theta,
                         const simulate::SeriesView& observed, const PredictionPlan& plan, const Streams& streams,
                         const Parallel& parallel, Progress& progress = silent_progress());

/// How the series of the draws with this record were read; `source` names them in a sentence.
simulate::PathSettings recorded_paths(const std::string& source, const files::Attributes& record);
/// What one step of the simulator is on the scale of the series' times, as it was when the draws with this record were
/// made.
double recorded_step_length(const std::string& source, const files::Attributes& record,
                            const simulate::SeriesView& series);

/// A trained density as a simulator of its own. `model` must outlive it.
simulate::Simulator surrogate_simulator(const model::DensityModel& model);

/// ArviZ's groups: `posterior_predictive`, the variables `series` (run) and `one_step` over (chain, draw, time, state),
/// and, if there is a forecast, `predictions` with the variable `series`; times as those of `observed`.
std::vector<files::Group> predictive_groups(const PredictiveSeries& series, const simulate::SeriesView& observed,
                                            const std::vector<std::string>& state_names);

}  // namespace catena::evaluate

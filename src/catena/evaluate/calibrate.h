/// Calibration of a trained model: for many series with known parameters, draws from the model's posterior and the rank
/// of the truth among them (calibration.h), as they were learned or corrected by simulation (sample/correct/). What
/// `catena calibrate` and Python's catena.calibrate call; whoever has the simulator makes the series.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/random.h"
#include "catena/evaluate/calibration.h"
#include "catena/files/netcdf/netcdf.h"
#include "catena/model/trained_model.h"
#include "catena/sample/correct/correct.h"
#include "catena/tasks/task.h"

namespace catena::evaluate {

/// Series with the parameters behind them: row s of `theta` made series[s].
struct KnownSeries {
  Matrix theta;
  std::vector<Matrix> series;              // (T + 1) × n each
  std::vector<std::vector<double>> times;  // of their rows, for models that use time and for gaps; else empty
  std::vector<Matrix> covariates = {};     // of their rows, for models with covariates; else empty
};

/// θ from the task's prior and a series of T transitions, `count` times over; with the covariates of the given table,
/// in time order, or else the task's own.
KnownSeries known_series(std::string_view function, const tasks::Task& task, std::size_t count, std::size_t transitions,
                         const Streams& streams, std::span<const Matrix> covariates = {});

/// The same with rows at these steps alone, the first of which is 0: as a series with gaps has them. Times are the
/// steps.
KnownSeries known_series(std::string_view function, const tasks::Task& task, std::size_t count,
                         const std::vector<std::size_t>& steps, const Streams& streams,
                         std::span<const Matrix> covariates = {});

/// The steps at which rows of this series are known, from the first of them on: what a simulated series must have to be
/// like it.
std::vector<std::size_t> steps_of(std::string_view function, const simulate::SeriesView& series, double step_length);

/// The covariates of this series from its first known state on, a row for each step. Throws InputError if a row of them
/// is missing.
Matrix covariates_by_step(std::string_view function, const simulate::SeriesView& series, double step_length);

struct CalibrationPlan {
  std::size_t draws = 100;                             // for every series
  nlohmann::json settings = nlohmann::json::object();  // of the model's sampler
  const simulate::Model* simulator = nullptr;          // with one, posteriors are corrected by it
  sample::CorrectionSettings correction = {};
  simulate::PathSettings paths = {};  // how the model reads the series
};

struct CalibrationResult {
  std::vector<std::string> parameters;
  Matrix theta;                         // the truths, one a row
  std::vector<Ranks> ranks;             // of each parameter
  Ranks tarp;                           // of all parameters together
  std::vector<Outcome> outcome;         // of the draws of each series, judged (sample/judgement/judge.h)
  std::size_t transitions_outside = 0;  // of all transitions, those outside the training range
  // With corrections, and empty without:
  std::vector<bool> alarm;                 // of each series' certificate
  std::vector<std::string> not_corrected;  // why a series has its learned draws; empty: it was corrected
};

/// Series are shared between threads and ranks; each has random streams of its own. A series whose correction fails is
/// ranked by its learned draws and counted; throws if all do.
CalibrationResult calibrate(const model::TrainedModel& model, const KnownSeries& known, const CalibrationPlan& plan,
                            const Streams& streams, const Parallel& parallel, Progress& progress);

/// For each parameter and for all together (`tarp`): the p-value of the largest excursion of the ranks, whether they
/// stay inside the band of 95 %, and the coverage's mean excess (negative: the posterior is too narrow). How many
/// series have which outcome, and whether more are not ok than false alarms explain (`flagged`). With corrections the
/// share of series that were corrected, and of certificates that raised an alarm.
nlohmann::json summary(const CalibrationResult& result, const Streams& streams);

/// A netCDF file that `catena report` shows: `rank` (parameter, series) with the attribute `draws`, `tarp_rank`
/// (series), `theta`, `outcome` (series).
files::Group calibration_group(const CalibrationResult& result);

}  // namespace catena::evaluate

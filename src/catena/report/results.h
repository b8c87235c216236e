/// What a report is about: everything that was found in the files it was given, each part optional. Figures, tables and
/// findings are functions of this; Python fills in the parts it has and calls the same functions.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/outcome.h"
#include "catena/evaluate/calibration.h"
#include "catena/evaluate/information.h"
#include "catena/files/csv.h"
#include "catena/model/trained_model.h"
#include "catena/report/correction.h"
#include "catena/sample/mcmc/chain_health.h"
#include "catena/simulate/paths.h"

namespace catena::report {

/// Draws with what is known of the chains they come from.
struct DrawSet {
  std::vector<std::string> parameters;  ///< one per column
  Matrix values;                        ///< one draw a row, all finite
  std::size_t chains = 1;
  std::size_t dropped = 0;                  ///< draws left out because a value was not finite
  std::vector<sample::ChainHealth> health;  ///< one per parameter; empty if it cannot be told
  std::optional<Outcome> outcome;           ///< how the sampler says that it ended
  std::vector<std::string> findings = {};   ///< what is wrong with the draws, each with its advice (sample/judgement/)
};

/// Quantiles of series simulated from the posterior, each [time × state].
struct Predictive {
  Matrix low, median, high;        ///< the ends of Style::interval, and 50 % between them
  std::vector<double> times = {};  ///< of the rows, where they are not those of the observed series
};

/// How a report looks, as its reader wants it.
struct Style {
  double interval = 0.9;                      ///< share of the intervals in tables, bands and the wider regions
  std::map<std::string, std::string> labels;  ///< of parameters and states, by their names: "growth rate (1/yr)"
};

/// The local estimates of the model at the draws, as far as they could be asked (report/information.h).
struct InformationResult {
  std::optional<evaluate::Information> information;
  std::vector<std::string> parameters;
  std::string trouble;  ///< why there is none: one sentence; else empty
};

struct Calibration {
  std::vector<std::string> parameters;
  std::vector<evaluate::Ranks> ranks;  ///< one per parameter
};

/// A file that went into the report, and what it says about how it was made.
struct Source {
  std::string file;
  std::string kind;  ///< "posterior", "reference", "model", "series", "predictive", "true values",
                     ///< "calibration"
  nlohmann::json record = nlohmann::json::object();
};

struct Results {
  std::optional<DrawSet> posterior, reference;  ///< the reference's columns in the order of the posterior's
  std::vector<double> truth;                    ///< in the order of the posterior's parameters, NaN = unknown; or empty
  std::optional<files::Series> observed;        ///< the first one, if the draws are of several
  std::vector<files::Series> more_series;       ///< the others: not shown, but what they say counts
  simulate::PathSettings paths;                 ///< how the maker of the draws read it
  std::optional<Predictive> predictive;         ///< on and on from x⁰
  std::optional<Predictive> one_step;           ///< one step ahead of each observed state
  std::optional<Predictive> forecast;           ///< beyond the last observed state
  Matrix prior;                                 ///< draws from the prior, in the posterior's columns; or no rows
  Style style;
  std::optional<InformationResult> information;
  std::optional<model::LearningCurve> learning_curve;
  std::optional<Calibration> calibration;
  std::optional<CorrectionResult> correction;  ///< of the posterior
  std::vector<Source> sources;
  bool other_series = false;    ///< `observed` is not the series that the draws' own file holds
  std::filesystem::path model;  ///< the model's file; empty if there is none
};

/// Tells the files apart by what is in them, whatever their order: a safetensors file is a model, CSV an observed
/// series (true values in the .json beside it), JSON true values, netCDF with ranks a calibration, netCDF with ArviZ's
/// group `posterior` first the posterior, then the reference, and with `posterior_predictive` alone what `catena
/// predict` wrote.
/// Throws InputError for a model and draws that do not belong together.
Results read_results(const std::vector<std::filesystem::path>& files, const Style& style = {});

/// Gives parameters and states the labels of the style. Throws InputError for one that nothing has the name of. Last of
/// all: what is found by its name is found no more.
void apply_labels(Results& results);

/// "lotka_volterra", if one of the sources names the task; empty otherwise.
std::string task_name(const Results& results);

}  // namespace catena::report

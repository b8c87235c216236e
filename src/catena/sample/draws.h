/// Draws of θ with all that is known of them, and the one writer and reader of their files: `catena sample`, `catena
/// reference` and Python write them; predict, report, evaluate, log-prob, --around and Python read them.
///
/// The file is netCDF that ArviZ opens. Groups: `posterior` (one variable per parameter over chain and draw) and
/// `observed_data` (the series; the second of the same θ is `series_2`, and so on; with the coordinates `time`,
/// `time_2`, … where times are known, dates as the netCDF conventions have them), of models with covariates
/// `constant_data` (`covariates`, `covariates_2`, … over the times of the series), and of corrected draws
/// `learned_posterior`; where they are known, `log_likelihood` (transitions over chain, draw, transition),
/// `sample_stats`
/// (`lp`, the log density) and `prior`; what made them stands in the root's attributes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/files/csv.h"
#include "catena/files/netcdf/netcdf.h"
#include "catena/sample/mcmc/chain_health.h"
#include "catena/sample/posterior.h"
#include "catena/simulate/series.h"

namespace catena::sample {

struct Draws {
  std::vector<std::string> parameters;  ///< one per column; empty if the file has no names (CSV without a header)
  Matrix values;                        ///< one draw a row, the chains one after the other
  std::size_t chains = 1;
  std::vector<files::Series> series = {};  ///< what was observed, all of one θ; empty if the file does not hold it
  files::Attributes record = {};           ///< what made them: method, seed, transitions, …
  std::vector<ChainHealth> health = {};    ///< one per parameter, as their maker measured it; empty if it did not
  Matrix learned = {};         ///< where they were corrected by simulation, those before it; no rows: they were not
  Matrix log_likelihood = {};  ///< of every transition at every draw; no rows: not known
  std::vector<double> log_density = {};  ///< of every draw, up to a constant; empty: not known
  Matrix prior = {};                     ///< draws from the prior; no rows: not known
  std::size_t dropped = 0;               ///< draws that were left out of the file because they are not finite
};

/// What the writer of draws knows about how they were made, as attributes: method, models, seed, transitions (what the
/// model was trained on: model, options, proposal, …), companions (the same of each), paths (how series were read),
/// info, outcome, warning.
files::Attributes draws_record(const PosteriorRequest& request, const PosteriorDraws& draws, std::uint64_t seed);

/// What ArviZ makes use of beside the draws: draws from the prior, the log density and, if there are not too many of
/// them, the log likelihood of every transition at every draw, as far as the method has them.
void add_companion_groups(Draws& draws, const PosteriorRequest& request, const Streams& streams,
                          const Parallel& parallel);

/// The draws of a request, ready to be written.
Draws draws_of(const PosteriorRequest& request, PosteriorDraws draws, std::uint64_t seed);

/// How many of them are finite.
std::size_t finite_draws(const Draws& draws);

/// Draws that are not finite are no draws: they are left out, and counted in the attribute `dropped_draws`. Throws
/// InputError if none is left.
files::Group draws_group(const Draws& draws);
void write_draws(const std::filesystem::path& path, const Draws& draws);

/// A coordinate of times; of dates, as the netCDF conventions have them, so that xarray reads dates.
files::Variable time_variable(const std::string& name, std::span<const double> times,
                              const std::optional<Calendar>& calendar);

/// Such a coordinate of a group, as a series without states; empty if it has none.
files::Series times_in(const files::Group& group, const std::string& name);

/// The group `observed_data` alone.
files::Group observed_group(std::span<const simulate::SeriesView> series);
/// The group `constant_data` with the series' covariates; none if they have none.
std::optional<files::Group> constant_group(std::span<const simulate::SeriesView> series);

/// Whoever wrote the file: netCDF with ArviZ's group `posterior` (catena, PyMC, NumPyro, sbi via ArviZ), or, if its
/// name ends in .csv, .tsv or .txt, a table with one draw a row. In netCDF every numeric variable of `posterior` with
/// dimensions (chain, draw, …) counts. Its further dimensions are spread out: as name[label] or name[0], or, if it is
/// the only variable and its last dimension has texts as coordinates, by those texts alone.
Draws read_draws(const std::filesystem::path& path);
/// The same of a netCDF file that was read already; `source` is its name in sentences.
Draws draws_in(const files::Group& root, const std::string& source);

/// The series of a file's group `observed_data`, with names and times as far as it holds them; none if it does not.
std::vector<files::Series> observed_in(const files::Group& root);

/// The columns, and what belongs to them, in the order of `parameters`. What has no names is taken as it is; otherwise
/// an InputError if the names are not the same.
Draws in_order_of(const std::vector<std::string>& parameters, Draws draws);

}  // namespace catena::sample

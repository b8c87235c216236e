#include "observation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catena/core/check.h"
#include "catena/simulate/covariates.h"
#include "catena/simulate/dates.h"
#include "common.h"

namespace catena::cli {

void add_observation_flags(CLI::App& app, ObservationFlags& flags) {
  app.add_option("model", flags.models,
                 "trained model, from catena train; with others beside it, of initial states or of single transitions")
      ->required()
      ->type_name("FILE");
  app.add_option("--observation", flags.files,
                 "the series, a CSV file, one state a row; several files or a column `series`: several series")
      ->required()
      ->type_name("FILE");
  add_flags(app, flags.paths);
}

std::vector<files::Series> read_observations(std::string_view function, const std::vector<std::string>& paths,
                                             const std::vector<std::string>& state_names,
                                             const std::vector<std::string>& covariate_names) {
  std::vector<files::Series> all;
  for (const std::string& path : paths) {
    for (files::Series& series : files::split_series(files::read_csv(path))) {
      simulate::tell_columns_apart(function, path, state_names, covariate_names, series);
      all.push_back(std::move(series));
    }
  }
  return all;
}

std::vector<Matrix> read_covariates(std::string_view function, const std::vector<std::string>& paths,
                                    const std::vector<std::string>& covariate_names) {
  check::that(paths.empty() || !covariate_names.empty(), function, "--covariates", "given",
              "left out: the simulator takes none");
  std::vector<Matrix> tables;
  for (const std::string& path : paths) {
    for (const files::Series& table : files::split_series(files::read_csv(path))) {
      tables.push_back(simulate::covariate_columns(function, path, covariate_names, table));
    }
  }
  return tables;
}

Observed::Observed(std::string_view function, const ObservationFlags& flags) : flags_(flags) {
  for (const std::string& path : flags.models) models_.push_back(model::read_model(path));
  series_ = read_observations(function, flags.files, models_.front().state_names, models_.front().covariate_names);
  const model::Features& features = models_.front().features;
  simulate::number_dates(function, series_, flags.paths, features.uses_step() || features.uses_time());
}

sample::PosteriorRequest Observed::request() const {
  sample::PosteriorRequest request{.model = models_.front(), .series = simulate::views_of(series_)};
  for (std::size_t k = 1; k < models_.size(); ++k) request.companions.push_back(&models_[k]);
  request.paths = flags_.paths;
  return request;
}

}  // namespace catena::cli

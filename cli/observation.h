/// What verbs that use trained models ask for: one or more models, one or more observed series of the same θ, and what
/// to do about missing states.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "catena/files/csv.h"
#include "catena/model/trained_model.h"
#include "catena/sample/posterior.h"
#include "catena/simulate/paths.h"

namespace catena::cli {

struct ObservationFlags {
  std::vector<std::string> models, files;
  simulate::PathSettings paths;
};

/// Adds the models, --observation and the flags about what is missing.
void add_observation_flags(CLI::App& app, ObservationFlags& flags);

/// The series of CSV files: one each, or one for every value of a column `series`. Throws InputError, whose sentence
/// begins with `function`, if the columns have other names than the states and covariates.
std::vector<files::Series> read_observations(std::string_view function, const std::vector<std::string>& paths,
                                             const std::vector<std::string>& state_names,
                                             const std::vector<std::string>& covariate_names);

/// The columns of these covariates in CSV files, a table for each file or value of a column `series`.
std::vector<Matrix> read_covariates(std::string_view function, const std::vector<std::string>& paths,
                                    const std::vector<std::string>& covariate_names);

/// Everything that the flags name, read.
class Observed {
 public:
  Observed(std::string_view function, const ObservationFlags& flags);

  const model::TrainedModel& model() const { return models_.front(); }
  const std::vector<files::Series>& series() const { return series_; }
  /// For the posterior of all series; looks at this object.
  sample::PosteriorRequest request() const;

 private:
  const ObservationFlags& flags_;
  std::vector<model::TrainedModel> models_;
  std::vector<files::Series> series_;
};

}  // namespace catena::cli

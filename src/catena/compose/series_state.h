/// Everything that a separable model needs of a series, however long: sums over its transitions. New observations only
/// add to them, so that a posterior can follow a stream at a cost that does not grow. One mechanism for every method
/// whose networks are separable: a score's, a density's, a ratio's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "catena/compose/observed_series.h"
#include "catena/core/array.h"
#include "catena/core/registry.h"
#include "catena/model/trained_model.h"

namespace catena::compose {

/// By name; those of two stretches of a series add up to those of both.
using SeriesSums = std::map<std::string, Matrix>;

/// A method whose models may be separable.
struct SummedMethod {
  std::string_view name;
  /// The sums of a series' transitions, zero if it has none. Throws InputError if the model is not separable.
  SeriesSums (*sums)(const model::TrainedModel& model, const ObservedSeries& series);
};
const Registry<SummedMethod>& summed_methods();

/// Whether the model's series can be kept as a state.
bool has_sums(const model::TrainedModel& model);

struct SeriesState {
  /// The empty series of a model. Throws InputError if the model is not separable.
  explicit SeriesState(const model::TrainedModel& model);

  /// Adds transitions that come after those already in.
  void add(const model::TrainedModel& model, const ObservedSeries& observed);

  std::uint64_t transitions = 0;   // T
  std::vector<double> last_state;  // where the next transition starts; empty at first
  double last_time = 0;
  std::vector<double> last_covariates = {};  // those of the last state; empty without covariates
  std::uint64_t outside = 0;                 // transitions outside the training range, of all that were added
  SeriesSums sums;
};

void write_state(const std::filesystem::path& path, const model::TrainedModel& model, const SeriesState& state);
/// Throws InputError if the state belongs to another model, FileError if the file is damaged.
SeriesState read_state(const std::filesystem::path& path, const model::TrainedModel& model);

}  // namespace catena::compose

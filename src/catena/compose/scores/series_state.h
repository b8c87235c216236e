/// Everything that a separable score model needs of a series, however long: sums over its transitions. New observations
/// only add to them, so that a posterior can follow a stream at a cost that does not grow.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "catena/compose/scores/network_scores.h"

namespace catena::compose {

struct SeriesState {
  /// The empty series of a model, whose network must be separable.
  explicit SeriesState(const model::ScoreModel& model);

  /// Adds transitions that come after those already in.
  void add(const model::ScoreModel& model, const ObservedSeries& observed);

  /// Σ_t C_t − (T−1) I: the precision of the series at a = 0, before repair.
  Eigen::MatrixXd precision() const;

  std::uint64_t transitions = 0;   // T
  std::vector<double> last_state;  // where the next transition starts; empty at first
  double last_time = 0;
  std::uint64_t outside = 0;         // transitions outside the training range, of all that were added
  Matrix precision_sum;              // Σ_t C_t, d × d
  std::vector<Matrix> coefficients;  // of each network: 2d × d (K + 1), see network_scores.cpp
};

/// The source of local scores of a state: sums are all it has. `model` must outlive it.
std::unique_ptr<LocalScores> state_scores(const model::ScoreModel& model, const SeriesState& state);

void write_state(const std::filesystem::path& path, const model::ScoreModel& model, const SeriesState& state);
/// Throws InputError if the state belongs to another model, FileError if the file is damaged.
SeriesState read_state(const std::filesystem::path& path, const model::ScoreModel& model);

}  // namespace catena::compose

/// Training data as networks want them: z and the features c of every transition, in floats, one example a row. A set
/// that is larger than memory comes in windows of rows, read from its file when their turn comes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/model/features.h"
#include "catena/simulate/transitions.h"

namespace catena::model {
class Whitening;
}

namespace catena::train {

struct Examples {
  Examples() = default;
  Examples(const simulate::TransitionSet& set, const model::Features& features, std::size_t begin, std::size_t end);

  std::size_t size() const { return parameters == 0 ? 0 : z.size() / parameters; }
  const float* z_of(std::size_t i) const { return z.data() + i * parameters; }
  const float* c_of(std::size_t i) const { return c.data() + i * features; }

  std::size_t parameters = 0, features = 0;
  AlignedVector<float> z, c;
};

/// How transitions are shared between training and the held-out set that decides when to stop.
struct Split {
  double held_out = 0.1;              // share of all transitions …
  std::size_t most = 10000;           // … but no more than this
  std::size_t window_rows = 4 << 20;  // rows in memory at a time, of a file
};

/// Rows of examples: all of [0, count) but for `skipped` rows from `skip` on.
struct RowRange {
  std::size_t count = 0, skip = 0, skipped = 0;
  std::size_t operator()(std::size_t i) const { return i < skip ? i : i + skipped; }
};

/// Fold k of the data holds out its own rows and trains on all others: fold 0 the last rows, fold 1 those before, …. A
/// set that does not fit into memory has one fold only.
class TrainingData {
 public:
  TrainingData(simulate::TransitionSet set, const Split& split);
  TrainingData(const std::filesystem::path& path, const Split& split);

  const prior::Prior& prior() const { return prior_; }
  const std::vector<std::string>& state_names() const { return state_names_; }
  const std::vector<std::string>& covariate_names() const { return covariate_names_; }
  const nlohmann::json& provenance() const { return provenance_; }
  const model::Features& features() const { return features_; }

  std::size_t size() const { return rows_; }
  std::size_t training_size() const { return rows_ - held_out_rows_; }
  std::size_t held_out_size() const { return held_out_rows_; }
  std::size_t folds() const { return windows() == 1 ? rows_ / held_out_rows_ : 1; }

  std::size_t windows() const { return (rows_ - held_out_rows_ + window_rows_ - 1) / window_rows_; }
  /// The examples of one window; they stay until another one is asked for.
  const Examples& window(std::size_t window) const;
  /// Which of them are for training in this fold.
  RowRange training_rows(std::size_t window, std::size_t fold) const;
  /// The held-out examples of a fold, in the rows first … first + held_out_size() − 1 of these.
  const Examples& held_out() const { return windows() == 1 ? current_ : held_out_; }
  std::size_t first_held_out(std::size_t fold) const;

  /// States that are positive in every row, before and after.
  std::vector<std::size_t> positive_states() const;
  /// Coordinate i of the target as the simulator has made it, for every row: examples have it in single precision.
  std::vector<double> next_values(std::size_t i) const;
  /// From now on these states are seen by their logarithms (features.h), and no others. Before whitening.
  void see_logarithms(const std::vector<std::size_t>& states) { see(states, features_.periods()); }
  /// From now on time is seen with these periods (features.h), and no others. Before whitening.
  void see_periods(const std::vector<double>& periods) { see(features_.logarithmic(), periods); }

  /// From now on the increments of all examples are whitened (whitening.h). Once.
  void whiten(std::shared_ptr<const model::Whitening> whitening);

 private:
  void set_up(const simulate::TransitionSet& first, std::size_t rows, const Split& split);
  void see(std::vector<std::size_t> logarithmic, std::vector<double> periods);
  void read_first_window(const simulate::TransitionSet& first);
  /// Calls visit(set) for all rows, as they are in memory or window by window.
  template <class Visit>
  void for_all_rows(const Visit& visit) const;

  prior::Prior prior_;
  std::vector<std::string> state_names_, covariate_names_;
  nlohmann::json provenance_;
  model::Features features_;
  std::size_t rows_ = 0, held_out_rows_ = 0, window_rows_ = 0;
  std::shared_ptr<const simulate::TransitionSet> set_;  // as it was given; none if it comes from a file
  std::unique_ptr<simulate::TransitionFile> file_;      // none if it was given
  std::shared_ptr<const model::Whitening> whitening_;   // none: increments are standardised alone
  Examples held_out_;                                   // apart if there are several windows
  mutable Examples current_;                            // all rows if there is one window
  mutable std::size_t current_window_ = 0;
};

}  // namespace catena::train

/// Training data as networks want them: z and the features c of every transition, in floats, one example a row. A set
/// that is larger than memory comes in windows of rows, read from its file when their turn comes. An example may also
/// be a whole series: z and the features of all its transitions.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/random.h"
#include "catena/model/features.h"
#include "catena/simulate/transitions/transitions.h"
#include "catena/simulate/whole_series/series_set.h"

namespace catena::model {
class Whitening;
}

namespace catena::train {

class FrameSource;  // frames/frame_source.h

struct Examples {
  Examples() = default;
  Examples(const simulate::TransitionSet& set, const model::Features& features, std::size_t begin, std::size_t end);

  std::size_t size() const { return parameters == 0 ? 0 : z.size() / parameters; }
  const float* z_of(std::size_t i) const { return z.data() + i * parameters; }
  const float* c_of(std::size_t i) const { return c.data() + (series.empty() ? i : series[i].first) * features; }

  /// How many transitions example i has: their features stand from c_of(i) on, one after the other.
  std::size_t transitions_of(std::size_t i) const { return series.empty() ? 1 : series[i].length; }

  std::size_t parameters = 0, features = 0;
  AlignedVector<float> z, c;
  /// Of whole series: which rows of c are those of an example. Shortened copies share them. Empty: row i.
  struct Rows {
    std::size_t first = 0, length = 0;
  };
  std::vector<Rows> series;
};

/// How transitions are shared between training and the held-out set that decides when to stop.
struct Split {
  double held_out = 0.1;              // share of all transitions …
  std::size_t most = 10000;           // … but no more than this
  std::size_t window_rows = 4 << 20;  // rows in memory at a time, of a file
  bool frames = false;                // nothing is looked at before states are embedded (train/frames/embed.h)
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
  /// So many examples that are made when their turn comes, `at_once` of them in memory: make(begin, end).
  TrainingData(std::size_t count, std::size_t at_once, std::function<Examples(std::size_t, std::size_t)> make,
               const Split& split);
  /// Whole series, of which a share is held out.
  TrainingData(const simulate::SeriesSet& set, const Split& split);

  const prior::Prior& prior() const { return prior_; }
  const std::vector<std::string>& state_names() const { return state_names_; }
  const std::vector<std::string>& covariate_names() const { return covariate_names_; }
  const nlohmann::json& provenance() const { return provenance_; }
  const model::Features& features() const { return features_; }

  /// Of a split for embeddings: the states of the set as frames, and, later, embedded states in their place: the data
  /// are then those of a simulator of `names`.
  FrameSource frames() const;
  void embed(simulate::TransitionSet embedded);
  bool embedded() const { return embedded_; }
  const Split& split() const { return split_; }

  /// Whether examples are whole series, how many there are and how many transitions the longest has.
  bool whole_series() const { return longest_ > 0; }
  std::size_t series() const { return series_.size(); }
  std::size_t longest() const { return longest_; }
  /// Adds shortened copies of series, from their start on: at every length a share of those that are longer. A copy of
  /// a series that is held out is held out, too. Once.
  void add_shortened(double share, const Streams& streams);

  std::size_t size() const { return rows_; }
  std::size_t training_size() const { return rows_ - held_out_rows_; }
  std::size_t held_out_size() const { return held_out_rows_; }
  std::size_t folds() const { return windows() == 1 && !whole_series() ? rows_ / held_out_rows_ : 1; }

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
  /// From now on heavy tails are looked for (features.h). Before whitening.
  void see_tails();

  /// From now on the increments of all examples are whitened (whitening.h). Once.
  void whiten(std::shared_ptr<const model::Whitening> whitening);

 private:
  void set_up(const simulate::TransitionSet& first, std::size_t rows, const Split& split);
  void set_rows(std::size_t rows, const Split& split);
  /// One example for each of these, the last `held_out` of which are held out.
  void set_series(const std::vector<Examples::Rows>& examples, const std::vector<std::size_t>& series_of,
                  std::size_t held_out);
  void see(std::vector<std::size_t> logarithmic, std::vector<double> periods);
  void see_anew(std::vector<std::size_t> logarithmic, std::vector<double> periods);
  void read_first_window(const simulate::TransitionSet& first);
  /// Calls visit(set) for all rows, as they are in memory or window by window.
  template <class Visit>
  void for_all_rows(const Visit& visit) const;

  Split split_;
  bool embedded_ = false;
  std::function<Examples(std::size_t, std::size_t)> make_;  // none: examples are rows of the set
  prior::Prior prior_;
  std::vector<std::string> state_names_, covariate_names_;
  nlohmann::json provenance_;
  model::Features features_;
  bool tails_ = false;  // whether heavy ones are looked for
  std::size_t rows_ = 0, held_out_rows_ = 0, window_rows_ = 0;
  std::shared_ptr<const simulate::TransitionSet> set_;  // as it was given; none if it comes from a file
  std::unique_ptr<simulate::TransitionFile> file_;      // none if it was given
  std::shared_ptr<const model::Whitening> whitening_;   // none: increments are standardised alone
  Examples held_out_;                                   // apart if there are several windows
  mutable Examples current_;                            // all rows if there is one window
  mutable std::size_t current_window_ = 0;
  std::vector<Examples::Rows> series_;  // as they were given
  std::size_t held_out_series_ = 0;
  AlignedVector<float> series_z_;  // one row for each of them
  std::size_t longest_ = 0;        // 0: examples are single transitions
};

}  // namespace catena::train

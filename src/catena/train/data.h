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
#include "catena/simulate/transitions.h"
#include "catena/train/features.h"

namespace catena::train {

struct Examples {
  Examples() = default;
  Examples(const simulate::TransitionSet& set, const Features& features, std::size_t begin, std::size_t end);

  std::size_t size() const { return parameters == 0 ? 0 : z.size() / parameters; }
  const float* z_of(std::size_t i) const { return z.data() + i * parameters; }
  const float* c_of(std::size_t i) const { return c.data() + i * features; }

  std::size_t parameters = 0, features = 0;
  AlignedVector<float> z, c;
};

/// How transitions are shared between training and the held-out set that decides when to stop.
struct Split {
  double held_out = 0.1;             // share of all transitions …
  std::size_t most = 10000;          // … but no more than this
  std::size_t window_rows = 4 << 20;  // rows in memory at a time, of a file
};

class TrainingData {
 public:
  TrainingData(const simulate::TransitionSet& set, const Split& split);
  TrainingData(const std::filesystem::path& path, const Split& split);

  const simulate::Prior& prior() const { return prior_; }
  const std::vector<std::string>& state_names() const { return state_names_; }
  const nlohmann::json& provenance() const { return provenance_; }
  const Features& features() const { return features_; }

  const Examples& held_out() const { return held_out_; }
  std::size_t training_size() const { return training_rows_; }
  std::size_t windows() const { return (training_rows_ + window_rows_ - 1) / window_rows_; }
  std::size_t window_size(std::size_t window) const;
  /// The examples of one window; they stay until another one is asked for.
  const Examples& window(std::size_t window) const;

 private:
  void set_up(const simulate::TransitionSet& first, std::size_t rows, const Split& split);

  simulate::Prior prior_;
  std::vector<std::string> state_names_;
  nlohmann::json provenance_;
  Features features_;
  std::size_t training_rows_ = 0, window_rows_ = 0;
  Examples held_out_;
  std::unique_ptr<simulate::TransitionFile> file_;  // none if everything is in memory
  mutable Examples current_;
  mutable std::size_t current_window_ = 0;
};

}  // namespace catena::train

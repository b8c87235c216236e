/// What networks see of a transition: c = (x^t, x^(t+1) − x^t, t), each coordinate standardised by the training set.
/// The increment and not x^(t+1) itself: over a short step the two states are nearly equal, and all information about θ
/// is in their difference.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/simulate/transitions.h"

namespace catena::train {

/// One coordinate of c: (value − mean)/scale, seen in training between low and high.
struct Feature {
  double mean = 0, scale = 1;
  double low = 0, high = 0;
};

class Features {
 public:
  Features() = default;
  /// Learned from training transitions.
  explicit Features(const simulate::TransitionSet& set);

  std::size_t states() const { return states_; }  ///< n
  bool uses_time() const { return all_.size() > 2 * states_; }
  /// 2n, and one more for the time.
  std::size_t size() const { return all_.size(); }
  std::span<const Feature> all() const { return all_; }

  /// c of one transition; `time` counts only if the features use it.
  void apply(std::span<const double> x, std::span<const double> x_next, double time, std::span<float> c) const;

  /// How far outside the training range the transition lies, in standard deviations of the worst coordinate; 0 inside.
  double excess(std::span<const double> x, std::span<const double> x_next, double time) const;

  nlohmann::json to_json() const;
  static Features from_json(const std::string& source, const nlohmann::json& json);

 private:
  double raw(std::size_t i, std::span<const double> x, std::span<const double> x_next, double time) const {
    if (i < states_) return x[i];
    if (i < 2 * states_) return x_next[i - states_] - x[i - states_];
    return time;
  }

  std::size_t states_ = 0;
  std::vector<Feature> all_;
};

}  // namespace catena::train

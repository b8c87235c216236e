/// What networks see of a record (simulate/record.h): c = (condition, target, t, log Δ), each coordinate standardised
/// by the training set. For a transition, c = (x^t, x^(t+1) − x^t, t): the increment and not x^(t+1) itself, because
/// over a short step the two states are nearly equal, and all information about θ is in their difference. Longer
/// windows go on the same way:
///
///   condition   x^t, x^t − x^(t−1), x^(t−1) − x^(t−2), …      target   x^(t+1) − x^t, x^(t+2) − x^(t+1), …
///
/// An initial state has no condition, its target begins with x⁰ itself, and one constant stands where others have
/// theirs.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/simulate/record.h"
#include "catena/simulate/transitions.h"

namespace catena::model {

/// One coordinate of c: (value − mean)/scale, seen in training between low and high.
struct Feature {
  double mean = 0, scale = 1;
  double low = 0, high = 0;
};

class Features {
 public:
  Features() = default;
  /// Learned from training records.
  explicit Features(const simulate::TransitionSet& set);

  const simulate::RecordShape& shape() const { return shape_; }
  std::size_t states() const { return shape_.states; }  ///< n
  bool uses_time() const { return shape_.time; }
  bool uses_step() const { return shape_.step; }
  std::size_t condition() const { return shape_.condition(); }  ///< coordinates before the target
  std::size_t target() const { return shape_.target(); }        ///< coordinates of the target
  /// All: 2n of a transition, and one more for the time.
  std::size_t size() const { return all_.size(); }
  std::span<const Feature> all() const { return all_; }
  /// The feature of Δ; only if uses_step(). Its range is that of log Δ.
  const Feature& step() const { return all_[condition() + target() + (shape_.time ? 1 : 0)]; }

  /// All coordinates of c but the target's: what is known before the record happens.
  std::size_t known() const { return size() - target(); }
  /// The place in c of the i-th of them.
  std::size_t known(std::size_t i) const { return i < condition() ? i : i + target(); }

  /// c of one record; time and step count only if the features use them.
  void apply(const simulate::RecordView& record, std::span<float> c) const;

  /// How far outside the training range the record lies, in standard deviations of the worst coordinate; 0 inside.
  double excess(const simulate::RecordView& record) const;

  nlohmann::json to_json() const;
  static Features from_json(const std::string& source, const nlohmann::json& json);

 private:
  std::size_t expected_size() const;
  double raw(std::size_t i, const simulate::RecordView& record) const;

  simulate::RecordShape shape_;
  std::vector<Feature> all_;
};

}  // namespace catena::model

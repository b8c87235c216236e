/// What networks see of a record (simulate/records/record.h): c = (condition, target, t, log Δ, u), each coordinate
/// standardised by the training set. For a transition, c = (x^t, x^(t+1) − x^t, t): the increment and not x^(t+1)
/// itself, because over a short step the two states are nearly equal, and all information about θ is in their
/// difference. Longer windows go on the same way:
///
///   condition   x^t, x^t − x^(t−1), x^(t−1) − x^(t−2), …      target   x^(t+1) − x^t, x^(t+2) − x^(t+1), …
///
/// An initial state has no condition, its target begins with x⁰ itself, and one constant stands where others have
/// theirs.
///
/// A state that is positive throughout may be seen by its logarithm: log x stands in place of x in all of these, so
/// that its target is log x^(t+1) − log x^t. Where noise multiplies, that is what is simple
/// (train/choose/coordinates.h).
///
/// Where the noise has heavy tails and a few extremes would decide the scale (Cauchy's has no variance), x^(t+1) − x^t,
/// and an x that has them too, is seen as asinh((value − median)/s), with s the deviation of a normal law of the same
/// quartiles: linear in the middle, logarithmic in the tails. That is for ratios and scores, which do not depend on how
/// c is written; a density of increments chooses among kinds that have tails of their own, and a Gaussian on this scale
/// would hide that it has none.
///
/// Covariates stand in c as they are. Where time comes round, c ends with sin 2πt/P and cos 2πt/P for each period P
/// (train/choose/season.h).
#pragma once

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/model/joint_range.h"
#include "catena/simulate/records/record.h"
#include "catena/simulate/transitions/transitions.h"

namespace catena::model {

/// One coordinate of c: u = (value − mean)/scale or, with heavy tails, asinh(u); the value was seen in training between
/// low and high.
struct Feature {
  double mean = 0, scale = 1;
  double low = 0, high = 0;
  bool tails = false;  // heavy ones; the mean is a median, then, and the scale by quartiles

  double seen(double value) const {
    const double u = (value - mean) / scale;
    return tails ? std::asinh(u) : u;
  }
  double value(double c) const { return mean + scale * (tails ? std::sinh(c) : c); }
};

class Features {
 public:
  Features() = default;
  /// Learned from training records; these states, which must be positive in all of them, are seen by their logarithms.
  /// Periods are of records that have a time. Heavy tails are looked for where `tails` says so.
  explicit Features(const simulate::TransitionSet& set, std::vector<std::size_t> logarithmic = {},
                    std::vector<double> periods = {}, bool tails = false);

  const simulate::RecordShape& shape() const { return shape_; }
  std::size_t states() const { return shape_.states; }  ///< n
  bool uses_time() const { return shape_.time; }
  bool uses_step() const { return shape_.step; }
  std::size_t condition() const { return shape_.condition(); }  ///< coordinates before the target
  std::size_t target() const { return shape_.target(); }        ///< coordinates of the target
  /// All: 2n of a transition, one more for the time, one for each covariate of each step, and two for each period.
  std::size_t size() const { return all_.size(); }
  std::span<const Feature> all() const { return all_; }
  /// The feature of Δ; only if uses_step(). Its range is that of log Δ.
  const Feature& step() const { return all_[condition() + target() + (shape_.time ? 1 : 0)]; }

  /// The states that are seen by their logarithms, in ascending order; whether the i-th state is, or coordinate i of
  /// the condition or of the target.
  const std::vector<std::size_t>& logarithmic() const { return logarithmic_; }
  bool logarithmic(std::size_t i) const;
  /// State i before the record, x^t itself, as training has seen it: the feature of its place in c, unless c has log x.
  const Feature& plain(std::size_t i) const;
  /// Whether any coordinate is seen as one with heavy tails.
  bool tails() const;

  /// After how much time the world is the same again; none, or several.
  const std::vector<double>& periods() const { return periods_; }

  /// All coordinates of c but the target's: what is known before the record happens.
  std::size_t known() const { return size() - target(); }
  /// The place in c of the i-th of them.
  std::size_t known(std::size_t i) const { return i < condition() ? i : i + target(); }

  /// c of one record; time and step count only if the features use them. What is seen by its logarithm must be positive
  /// (check_positive).
  void apply(const simulate::RecordView& record, std::span<float> c) const;

  /// How far outside the training range the record lies, in standard deviations: of the worst coordinate or, if that
  /// is more, of the record as a whole (joint_range.h); 0 inside.
  double excess(const simulate::RecordView& record) const;

  /// Throws InputError, whose sentence begins with `function`, if one of these states is seen by its logarithm and not
  /// positive: n numbers, or several times n.
  void check_positive(std::string_view function, const std::vector<std::string>& names,
                      std::span<const double> states) const;

  nlohmann::json to_json() const;
  static Features from_json(const std::string& source, const nlohmann::json& json);

 private:
  std::size_t without_periods() const;
  std::size_t expected_size() const { return without_periods() + 2 * periods_.size(); }
  Matrix standardised(const simulate::TransitionSet& set) const;
  double raw(std::size_t i, const simulate::RecordView& record) const;
  void see_tails(const simulate::TransitionSet& set);

  simulate::RecordShape shape_;
  std::vector<double> periods_;
  std::vector<Feature> all_;
  std::vector<std::size_t> logarithmic_;
  JointRange joint_;
  std::vector<Feature> plain_;  // of x^t itself, for the logarithmic states
};

}  // namespace catena::model

/// Where training has been, on the record as a whole: each coordinate of a transition may lie inside its range while
/// the pair of state and increment is one that no simulation made.
///
/// The training records are covered by balls. K of them (evenly chosen rows of the set) are kept as centres r_k, each
/// with a radius ρ_k, the distance to its fifth neighbour among the others; a record's remoteness is
///
///   e(c) = min_k ‖c − r_k‖ / ρ_k,
///
/// in standardised features. Where the set is sparse the balls are large, so that its tails are no exception. The
/// limit is the largest remoteness of a training record: all of them are inside.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "catena/core/array.h"

namespace catena::model {

class JointRange {
 public:
  JointRange() = default;  ///< of models that do not know it, and of records with too many features: all is inside
  /// Of standardised features, one record a row.
  explicit JointRange(const Matrix& c);

  bool known() const { return centres_.rows() > 0; }
  /// How far outside c lies, in standard deviations of the training set; 0 inside.
  double excess(std::span<const double> c) const;

  nlohmann::json to_json() const;
  static JointRange from_json(const std::string& source, const nlohmann::json& json, std::size_t features);

 private:
  struct Nearest {
    double remoteness, distance;
  };
  Nearest nearest(std::span<const double> c) const;

  Matrix centres_;
  std::vector<double> radius_;
  double limit_ = 0;
};

}  // namespace catena::model

/// An observed series as a trained model sees it: the features c_t of its transitions, checked, with a count of those
/// that lie where the model has never been.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "catena/core/array.h"
#include "catena/train/model.h"

namespace catena::compose {

struct ObservedSeries {
  Matrix c;                 // T × features, as the model's networks take them
  std::size_t outside = 0;  // transitions outside the training range
  double worst_excess = 0;  // how far the worst one lies outside, in standard deviations of the training set
  std::size_t worst_transition = 0;

  std::size_t transitions() const { return c.rows(); }
};

/// One state a row; `times` are needed if the model uses them (the time of each state). Throws InputError, whose
/// sentence begins with `function`, for another number of states than the model's, fewer than two rows, values that
/// are not finite.
ObservedSeries observed_series(std::string_view function, const train::TrainedModel& model, ConstMatrixView series,
                               std::span<const double> times);

}  // namespace catena::compose

/// Observed series as a trained model sees them: the features c of their records, checked, with a count of those that
/// lie where the model has never been.
///
/// One model may be joined by companions, which estimate the same θ from other pieces of a series: a model of initial
/// states takes x⁰, and one of single transitions those that are left over by blocks. Together they cover every series
/// once, so that the posterior of all is the product of their local likelihoods with one prior.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/model/trained_model.h"
#include "catena/simulate/paths.h"

namespace catena::compose {

struct ObservedSeries {
  Matrix c = {};  // T × features, as the model's networks take them
  /// What the simulator would start the records from: mn states, latest first, t, Δ and the covariates of M steps
  /// (without columns where records have none of their own).
  Matrix x = {}, time = {}, step = {}, u = {};
  std::vector<bool> follows = {};     // whether a record begins where the one before it ends
  std::vector<bool> is_outside = {};  // the training range
  std::size_t outside = 0;            // so many are
  double worst_excess = 0;            // how far the worst one lies outside, in standard deviations of the training set
  std::size_t worst_transition = 0;
  std::vector<ObservedSeries> companions = {};  // the records of the companions, in their order

  std::size_t transitions() const { return c.rows(); }
  /// Those of the companions too.
  std::size_t all_transitions() const;
  std::size_t all_outside() const;
};

/// So many of its records, spread over all of them, and of each companion's the same share (at least one of those that
/// has any).
ObservedSeries thinned(const ObservedSeries& observed, std::size_t records);

/// One state a row; `times` are needed if the model uses them (the time of each state). Throws InputError, whose
/// sentence begins with `function`, for another number of states than the model's, too few rows, values that are not
/// finite, gaps that the model does not know. For models without covariates.
ObservedSeries observed_series(std::string_view function, const model::TrainedModel& model, ConstMatrixView series,
                               std::span<const double> times);

/// The same for several series of one θ, with companions and with rules for what is missing.
ObservedSeries observed_series(std::string_view function, const model::TrainedModel& model,
                               std::span<const model::TrainedModel* const> companions,
                               std::span<const simulate::SeriesView> series,
                               const simulate::PathSettings& settings = {});

}  // namespace catena::compose

/// The learned posterior of a series as correction begins with it: its draws, and those of a few of the records.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/random.h"
#include "catena/prior/around.h"
#include "catena/sample/correct/cloud.h"
#include "catena/sample/correct/simulated.h"
#include "catena/sample/mcmc/start/maximise.h"
#include "catena/sample/posterior.h"

namespace catena::sample {

/// Keeps looking at all that it is given.
struct LearnedInput {
  std::string_view function;
  const PosteriorRequest& request;
  const compose::ObservedSeries& observed;
  std::span<const RecordPart> parts;
  const prior::TruePrior& prior;
  bool leaves_range = false;  // whether a part of the states lies outside the training range
  Streams streams;
  Parallel parallel;
  Progress& progress;
};

class LearnedPosterior {
 public:
  explicit LearnedPosterior(const LearnedInput& input);

  /// Drawn from or, for long series, whose chains would take long, climbed to from the posterior of a few of the
  /// records and taken as normal around its modes (Laplace).
  const PosteriorDraws& draws() const { return draws_; }
  const Matrix& z() const { return z_; }         ///< of the networks; finite ones
  const Modes& modes() const { return modes_; }  ///< of these, the heaviest first

  std::size_t few() const { return few_; }  ///< how many records are a few
  /// Draws of the posterior of a few records, which is wide and shows modes that a long series hides; finite ones.
  const Matrix& z_of_few();
  /// Whether one of these modes has no learned draws.
  bool any_lost(const Modes& modes) const;

 private:
  compose::ObservedSeries inside_range() const;
  GradientField field() const;
  void climb();
  Matrix laplace_draws(const std::vector<Maximum>& maxima) const;

  LearnedInput in_;
  std::size_t few_;
  PosteriorDraws draws_;
  Matrix z_, z_of_few_;
  Modes modes_;
};

}  // namespace catena::sample

/// The engine of the diffusion samplers: levels of noise, and one step from level to level by a sampler's table. It
/// knows neither blocks nor threads; diffusion_sample.h runs it.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "catena/compose/scores/series_score.h"
#include "catena/core/array.h"
#include "catena/core/outcome.h"
#include "catena/sample/diffusion/sampler.h"

namespace catena::sample {

/// Where the process stands: η = σ/m, and the a and m that belong to it.
struct Level {
  double eta = 0;
  double a = 0;
  double m = 1;
};

Level level_at(const diffusion::Schedule& schedule, double eta);

/// steps + 1 levels from a = 1 down to `end_eta`, η falling by the same factor each step: the part of the change that
/// is noise is then the same in each.
std::vector<Level> levels(const diffusion::Schedule& schedule, std::size_t steps, double end_eta);

/// Fills with independent N(0, 1).
using Noise = std::function<void(std::span<double>)>;

/// The Langevin steps of samplers that have them.
struct LangevinSteps {
  int corrections = -1;  // at every level; -1: the sampler's own number
  double rate = 0.5;     // δ in units of its bound (sampler.h)
};

/// What the steps of one block of particles share; y = θ_a/m, one particle a row.
class Engine {
 public:
  /// `largest` bounds the estimate E[θ | θ_a] = y + η² s_y that every score stands for, in each coordinate: beyond a
  /// few deviations of the prior networks have never been, and summed errors could drive particles away for good.
  Engine(const compose::SeriesScore& score, const Sampler& sampler, std::size_t particles, double largest,
         const LangevinSteps& langevin = {});

  /// y ~ N(μ, V) at the first level, a guess at the diffused posterior: V from the rule's shape, μ one Newton step
  /// from 0. Exact where the posterior is Gaussian with that shape.
  void start(const Level& level, MatrixView y, const Noise& noise);
  /// One step of the table, and the sampler's Langevin steps.
  void step(const Level& from, const Level& to, MatrixView y, const Noise& noise);
  /// The step in parts, for adaptive steps: the slopes of the table with a given noise (of variance |Δτ|; not read by a
  /// probability flow), how far its result is from Euler's in the root mean square over particles and coordinates, …
  void propose(const Level& from, const Level& to, ConstMatrixView y, ConstMatrixView noise);
  double error(const Level& from, const Level& to);
  /// … and the result itself.
  void accept(const Level& from, const Level& to, MatrixView y, ConstMatrixView noise);
  /// How many Langevin steps a step to this level ends with: a table needs none where noise drowns the series.
  int corrections_at(const Level& level) const;
  /// The sampler's Langevin steps after a step.
  void correct(const Level& from, const Level& to, MatrixView y, const Noise& noise);
  /// Tweedie: y ← E[θ | θ_a] = y + η² s_y.
  void denoise(const Level& level, MatrixView y);

  /// Calls of the score so far, each for all particles of the block.
  std::size_t evaluations() const { return evaluations_; }
  /// How often a coordinate's estimate was cut at `largest`.
  std::size_t cuts() const { return cuts_; }
  /// The first outcome of the score that was not ok.
  Outcome outcome() const { return outcome_; }

 private:
  /// s_y(y) = m s(m y, a), cut so that |y + η² s_y| ≤ largest
  void score_of_y(const Level& level, ConstMatrixView y, MatrixView out);
  /// Of the sampler's clock.
  double change(const Level& from, const Level& to) const;

  const compose::SeriesScore& score_;
  const Sampler& sampler_;
  double largest_;
  LangevinSteps langevin_;
  std::size_t evaluations_ = 0, cuts_ = 0;
  Outcome outcome_ = Outcome::ok;
  Matrix theta_a_, stage_, noise_;
  std::vector<Matrix> slopes_;
};

}  // namespace catena::sample

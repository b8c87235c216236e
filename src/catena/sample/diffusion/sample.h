/// Draws from the posterior of a series by its composed score: `catena sample` for score models. Particles run in
/// blocks with a random stream each, so that the draws do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <string>

#include "catena/compose/scores/local_scores.h"
#include "catena/compose/scores/series_score.h"
#include "catena/core/array.h"
#include "catena/core/config.h"
#include "catena/core/outcome.h"
#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/random.h"
#include "catena/sample/diffusion/engine.h"

namespace catena::sample {

struct SampleSettings {
  std::string sampler = "corrected_heun";
  int steps = 40;
  double end_width = 0.05;  // Tweedie's step then loses at most 0.05² = 0.25 % of the variance
  double smallest_a = 0;
  bool denoise = true;
  double largest_z = 5;
  LangevinSteps langevin = {};
  double tolerance = 0;
  int block = 128;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.sampler, "sampler", "how to follow the score down to a = 0", one_of(samplers().names()));
    visit(c.steps, "steps", "levels of noise to pass", at_least(1));
    visit(c.end_width, "end_width", "sigma/m at the end, in the narrowest standard deviation of the posterior",
          positive());
    visit(c.smallest_a, "smallest_a", "never end below this a, however narrow the posterior", between(0.0, 0.5));
    visit(c.denoise, "denoise", "end with Tweedie's step to a = 0", anything());
    visit(c.largest_z, "largest_z", "no estimate of z beyond so many standard deviations of the prior", positive());
    visit(c.langevin.corrections, "corrections", "Langevin steps at every level (-1: the sampler's own number)",
          at_least(-1));
    visit(c.langevin.rate, "langevin_rate", "size of a Langevin step in units of its bound",
          when_any({{{"corrections", {"> 0"}}}, {{"corrections", {"-1"}}, {"sampler", correcting_samplers()}}},
                   between(1e-6, 1.0)));
    visit(c.tolerance, "tolerance",
          "adaptive steps: largest error of a step in the level's standard deviations, `steps` being the most (0: "
          "fixed)",
          when("sampler", adaptive_samplers(), not_negative()));
    visit(c.block, "block", "particles that move together", at_least(1));
  }
};

struct SampleInfo {
  Outcome outcome = Outcome::ok;
  std::size_t evaluations = 0;  // of the series' score, per particle
  std::size_t diverged = 0;     // particles with values that are not finite
  std::size_t cuts = 0;         // estimates that were cut at largest_z
  double a_end = 0;             // where the levels ended, before Tweedie's step
};

struct DiffusionDraws {
  Matrix z;  // one draw a row
  SampleInfo info;
};

DiffusionDraws diffusion_sample(const compose::SeriesScore& score, std::size_t draws, const SampleSettings& settings,
                                const Streams& streams, const Parallel& parallel,
                                Progress& progress = silent_progress());

struct LocalPrecisionSettings {
  int draws_per_dimension = 500;
  std::string sampler = "heun";
  int steps = 40;
  bool diagonal = true;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.draws_per_dimension, "draws_per_dimension", "local draws per transition and dimension", at_least(2));
    visit(c.sampler, "sampler", "how to draw them", one_of(samplers().names()));
    visit(c.steps, "steps", "levels of noise to pass", at_least(1));
    visit(c.diagonal, "diagonal", "keep the diagonal of the covariance only", anything());
  }
};

struct LocalPrecisionResult {
  compose::LocalPrecisions precisions;  // for rule gauss: d columns (diagonal) or d·d (full)
  SampleInfo info;
};

/// C_t of every transition from draws of its local posterior p(θ | x^t, x^(t+1)), all transitions in parallel. With n
/// draws the inverse of the sample covariance is (n − 1)/(n − d − 2) too large on average; that factor is taken out.
LocalPrecisionResult local_precisions(const compose::LocalScores& source, const diffusion::Schedule& schedule,
                                      const LocalPrecisionSettings& settings, const Streams& streams,
                                      const Parallel& parallel, Progress& progress = silent_progress());

}  // namespace catena::sample

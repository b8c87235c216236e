/// Is a posterior to be believed whose sampler did well? After every `sample`, `check`, `correct`, `calibrate` and
/// `experiment`, of the command line and of Python, in this order:
///
/// - outside_training: most transitions lie where the networks have never been (model/joint_range.h), or some do and
///   the others do not accept where these have pulled the draws (test_inside, with the rate of misfit below);
/// - outside_prior: the mean of a parameter's draws lies more than four prior standard deviations out, where one
///   parameter in 16,000 is, or the draws spread 3.5 times as wide as the prior, farther than modes within it lie
///   apart;
/// - misfit: the series is not one that the learned model makes or, where the simulator is at hand, not one that the
///   simulator makes (residual_tests.h). On series that they make, with a right posterior, at most one in a hundred is
///   called so: each of three draws of the posterior gives a p-value that is uniform then, and
///   P(median of three ≤ α/2) ≤ α for any dependence;
/// - long_for_budget: the shift to be expected is more than half a posterior standard deviation,
///
///       √(p T/N) > ½,   p = 1 + d/4,
///
///   with N training transitions: what a regression on N transitions leaves over T (docs/theory/correction.md).
///
/// Of corrected draws what was learned has no say: misfit is by the simulator alone, N is what the correction
/// simulated.
///
/// A model of whole series has no transitions to test and adds none up. In place of the last two:
///
/// - longer_than_trained: the series is longer than the longest that the network has read.
#pragma once

#include <vector>

#include "catena/sample/judgement/simulated_ranks.h"
#include "catena/sample/posterior.h"

namespace catena::sample {

inline constexpr double misfit_false_alarms = 0.01;

struct Judgement {
  JudgeSimulator simulator = {};
  double corrected = 0;    // by so many simulated transitions; 0: these are learned draws
  bool certified = false;  // a certificate has measured the shift: the one to be expected is of no matter
};

/// Adds to the draws of a request what is wrong with them, and what was measured to `draws.info`. Of several ranks that
/// share the simulator's work, all have to call it.
void judge_draws(const PosteriorRequest& request, PosteriorDraws& draws, const Streams& streams,
                 const Parallel& parallel, const Judgement& how = {}, Progress& progress = silent_progress());

}  // namespace catena::sample

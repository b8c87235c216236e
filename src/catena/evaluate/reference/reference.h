/// Exact reference posteriors: draws from p(θ | series) for a task whose likelihood is known (tasks/likelihood.h), and
/// a verdict on whether they can be trusted. A reference that is not healthy is refused, not used.
#pragma once

#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/config.h"
#include "catena/core/outcome.h"
#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/random.h"
#include "catena/sample/mcmc/chain_health.h"
#include "catena/tasks/likelihood.h"

namespace catena::evaluate {

/// The version of this sampler, for caches: raised whenever the draws for a given seed change.
inline constexpr int reference_version = 3;

struct ReferenceSettings {
  int population = 256;  // the start; see start.h
  int moves = 4;
  int chains = 32;
  int round = 384;
  int rounds = 12;
  double largest_r_hat = 1.01;
  double least_ess = 1000;
  double ess_per_draw = 2;  // see reference.cpp
  bool closed_form = true;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.population, "population", "points carried from the prior to the posterior to start chains from",
          at_least(16));
    visit(c.moves, "moves", "moves of each point at each temperature", at_least(1));
    visit(c.chains, "chains", "number of Markov chains", at_least(2));
    visit(c.round, "round", "least number of steps of each chain before they are examined", at_least(8));
    visit(c.rounds, "rounds",
          "chains end, healthy or not, after the steps of so many rounds, each twice as long as the one before",
          between(1, 24));
    visit(c.largest_r_hat, "largest_r_hat", "largest rank-normalised split R-hat of a healthy reference",
          at_least(1.0));
    visit(c.least_ess, "least_ess", "least bulk and tail effective sample size of a healthy reference", positive());
    visit(c.ess_per_draw, "ess_per_draw", "effective draws wanted for each draw returned", positive());
    visit(c.closed_form, "closed_form", "draw from the posterior directly where it is known in closed form",
          anything());
  }
};

struct Reference {
  Outcome outcome = Outcome::ok;
  Matrix draws;                             // n × d, near-independent
  std::vector<sample::ChainHealth> health;  // of each parameter, over all kept draws of all chains
  std::string method;                       // "closed form" or "mcmc"
  std::string start;                        // of chains: "tempering" or "least squares"
  std::uint64_t evaluations = 0;            // of the likelihood of the whole series
  double acceptance = 0;                    // over the kept steps
  int temperatures = 0;
};

/// `n` draws from the posterior of the likelihood's series under the prior on θ; chains move in z, where that is N(0,
/// I). The same seed gives the same draws for any number of threads. A reference whose chains do not become healthy has
/// the outcome not_mixed and its last draws.
Reference sample_reference(const tasks::SeriesLikelihood& likelihood, const prior::Prior& prior, std::size_t n,
                           const ReferenceSettings& settings, const Streams& streams, const Parallel& parallel,
                           Progress& progress);

}  // namespace catena::evaluate

/// Draws from a density by Markov chains: `catena sample` for likelihoods and ratios. Many chains advance together from
/// a start that was importance-resampled from the prior (start.h), warm up, and run until they agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/config.h"
#include "catena/core/outcome.h"
#include "catena/core/parallel.h"
#include "catena/core/progress.h"
#include "catena/core/random.h"
#include "catena/sample/mcmc/kernel.h"
#include "catena/sample/mcmc/target.h"
#include "catena/sample/mcmc/traces.h"

namespace catena::sample {

/// The names of kernels(), and "auto".
std::vector<std::string> kernel_choices();

struct McmcSettings {
  std::string kernel = "auto";
  int chains = 32;
  int population = 0;
  int moves = 3;
  int thin_start = 256;
  int warm_up = -1;
  int round = 32;
  int most_steps = 100'000;
  int most_evaluations = 0;
  double largest_r_hat = 1.01;
  double ess_per_draw = 1;
  double least_ess = 400;
  bool dense = true;
  nlohmann::json own = nlohmann::json::object();  // of the kernel alone, by name (KernelEntry::settings)

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(
        c.kernel, "kernel",
        "how chains move; auto: cloud or, for long series whose density costs more with every transition, delayed, and "
        "tempering if they disagree",
        one_of(kernel_choices()));
    visit(c.chains, "chains", "number of Markov chains", at_least(1));
    visit(c.population, "population",
          "points carried from the prior to the posterior to start chains from, 16 or more (0: 400, or 512 for each of "
          "six to ten parameters)",
          at_least(0));
    visit(c.moves, "moves", "moves of each point at each temperature of the start", at_least(1));
    visit(c.thin_start, "thin_start",
          "a series of four times as many transitions or more starts from the posterior of so many of them; 0: never",
          at_least(0));
    visit(c.warm_up, "warm_up",
          "steps that adapt the kernel and are not kept; -1: what the kernel needs, and more for few chains",
          at_least(-1));
    visit(c.round, "round", "least number of steps before the chains are examined; doubled until they agree",
          at_least(8));
    visit(c.most_steps, "most_steps", "steps of each chain after which it ends, mixed or not", at_least(8));
    visit(c.most_evaluations, "most_evaluations",
          "densities of all chains together after which it ends, mixed or not; 0: no limit", at_least(0));
    visit(c.largest_r_hat, "largest_r_hat", "largest rank-normalised split R-hat of chains that agree", at_least(1.0));
    visit(c.ess_per_draw, "ess_per_draw", "effective draws wanted for each draw returned", between(0.0, 1000.0));
    visit(c.least_ess, "least_ess", "least bulk and tail effective sample size", between(0.0, 1e7));
    visit(c.dense, "dense", "learn correlations too, not only scales", anything());
  }
};

/// The fields above, then those of every kernel.
std::vector<FieldInfo> mcmc_fields();
/// From and to one object in which the kernel's own settings stand beside the others.
McmcSettings mcmc_settings_from(const nlohmann::json& json);
nlohmann::json mcmc_settings_json(const McmcSettings& settings);

struct McmcInfo {
  Outcome outcome = Outcome::ok;    // not_mixed: R-hat or ESS short of what was wanted; diverged: no possible start
  std::string kernel;               // the one that made the draws
  std::vector<ChainHealth> health;  // of each parameter, over `traces`
  double acceptance = 0;            // mean over the kept steps
  double step_size = 0;             // in units of the learned metric
  std::size_t chains = 0;
  std::size_t steps = 0;                  // of each chain, warm-up included
  std::size_t stride = 1;                 // steps between two draws of a trace
  std::uint64_t evaluations = 0;          // of the density, all chains and the start together
  std::uint64_t gradients = 0;            // of those, with gradient
  std::uint64_t not_finite = 0;           // of those, counted as density zero
  std::uint64_t divergences = 0;          // after warm-up
  std::size_t temperatures = 0;           // of the start
  std::uint64_t thinned_evaluations = 0;  // of the density given some of the transitions, by the start
  double seconds = 0;
};

struct McmcDraws {
  Matrix z;       // the draws that were asked for, one a row, near-independent
  Traces traces;  // all kept draws: traces[i] is chains × draws of parameter i
  McmcInfo info;
};

/// `draws` draws from the target. The same seed gives the same draws for any number of threads, if the target's values
/// do not depend on it. Chains that have not become healthy return their last draws with the outcome not_mixed.
McmcDraws mcmc_sample(const Target& target, std::size_t draws, const McmcSettings& settings, const Streams& streams,
                      const Parallel& parallel, Progress& progress = silent_progress());

/// What chains begin with if the caller has it already.
struct GivenChains {
  Start start;         // chains are those of its last points that `pick` takes
  KernelEntry kernel;  // of the registry or not: evaluate/reference/kernel.h keeps auxiliary variables of its own
};

/// The same from a given start by a given kernel; what the settings say of both does not count.
McmcDraws mcmc_sample(const Target& target, GivenChains given, std::size_t draws, const McmcSettings& settings,
                      const Streams& streams, const Parallel& parallel, Progress& progress = silent_progress());

}  // namespace catena::sample

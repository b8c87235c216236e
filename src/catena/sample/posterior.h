/// From a trained model and a series to draws of θ: what `catena sample` and Python call, whatever the method.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "catena/compose/observed_series.h"
#include "catena/compose/series_state.h"
#include "catena/core/config.h"
#include "catena/core/registry.h"
#include "catena/model/trained_model.h"
#include "catena/sample/diffusion/sample.h"
#include "catena/sample/mcmc/chain_health.h"
#include "catena/sample/mcmc/target.h"

namespace catena::sample {

struct PosteriorRequest {
  const model::TrainedModel& model;
  std::vector<simulate::SeriesView> series;  // all of one θ; with times for models that use time
  std::size_t draws = 1000;
  /// Of the method's sampler, and "preset" (model/preset.h); what neither names keeps its default.
  nlohmann::json settings = nlohmann::json::object();
  /// A file with what is known of the one series so far: `series` goes on where it stopped, and the file takes it in.
  /// Empty: `series` is all there is.
  std::filesystem::path state = {};
  /// Models of other records of the same chain: of its initial states, of single transitions beside blocks.
  std::vector<const model::TrainedModel*> companions = {};
  simulate::PathSettings paths = {};  // what to do about missing states and irregular times
};

/// What the request's models see of its series. Throws InputError, whose sentence begins with `function`.
compose::ObservedSeries observed_series(std::string_view function, const PosteriorRequest& request);

/// Something that is wrong with draws although their sampler did well, and what it is in numbers.
struct DrawFinding {
  Outcome outcome;
  std::string sentence;
};
struct PosteriorDraws {
  Outcome outcome = Outcome::ok;  // the sampler's, or else that of the first finding
  std::vector<DrawFinding> findings = {};
  Matrix z, theta;                  // one draw a row, in the true prior's z-space; NaN where the sampler diverged
  std::size_t chains = 1;           // the rows are those of one after the other
  std::vector<ChainHealth> health;  // one per parameter, over all that the chains kept; empty without chains
  compose::ObservedSeries observed;
  nlohmann::json info;  // evaluations, settings, seconds of each phase, transitions outside the training range, …

  /// Adds findings, also to `info`, with the outcome of the first if the sampler's own is ok.
  void add_findings(std::vector<DrawFinding> more);
  /// Why these are no draws of the posterior at all, in a clause; empty if they are.
  std::string refusal() const;
};

/// The most probable θ: the maximiser of the posterior's density *in θ-space*. Densities of θ and of z differ by the
/// prior map's Jacobian and so do their maximisers; users know θ alone, and with uniform priors this is the maximum of
/// the likelihood.
struct MapEstimate {
  Outcome outcome = Outcome::ok;  // step_limit: no start came to rest
  std::vector<double> theta, z;   // z-space is the true prior's
  double log_prob = 0;            // at θ, as posterior_log_prob has it; NaN for methods without a density
  compose::ObservedSeries observed;
  nlohmann::json info;  // starts, how many came to rest, parameters at the edge of the prior, …
};

/// How draws are made from the models of one method.
struct PosteriorSampler {
  std::string_view name;  // the method's
  std::vector<FieldInfo> settings;
  PosteriorDraws (*draw)(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                         const Streams& streams, const Parallel& parallel, Progress& progress);
  /// The same from what is left of a series in a state file (stream.h); null if the method cannot.
  PosteriorDraws (*draw_sums)(const PosteriorRequest& request, const compose::SeriesState& state,
                              const Streams& streams, const Parallel& parallel, Progress& progress) = nullptr;
  /// Whether it takes the companions of a request and their records into account.
  bool joins = false;
  /// log N(z; 0, I) + log likelihood in the networks' z-space, without the constant of the normal, with gradient; null
  /// if the method has no density. `request.model` and `observed` must outlive it.
  std::unique_ptr<Target> (*target)(const PosteriorRequest& request, const compose::ObservedSeries& observed,
                                    const Parallel& parallel) = nullptr;
  /// z (of the networks), log_prob and what else is known of the MAP; null: found from `target`.
  MapEstimate (*map)(const PosteriorRequest& request, const compose::ObservedSeries& observed, const Streams& streams,
                     const Parallel& parallel, Progress& progress) = nullptr;
  /// It was learned from whole series: there are no local estimates, and none of series longer than those.
  bool whole_series = false;
  /// Whether transitions to and from missing states are simply left out; null: no.
  bool (*leaves_out_gaps)(const model::TrainedModel& model) = nullptr;
};

const Registry<PosteriorSampler>& posterior_samplers();

/// What the sampler of a method is told: what `named` says, over what its preset says. Throws InputError for a setting
/// that the others make no use of.
nlohmann::json sampler_settings(std::string_view function, std::string_view method, const nlohmann::json& named);

/// Throws InputError for a series that does not fit the model.
PosteriorDraws draw_posterior(const PosteriorRequest& request, const Streams& streams, const Parallel& parallel,
                              Progress& progress = silent_progress());

/// p(θ) is the true prior everywhere, also for models trained around a posterior (prior/around.h).
///
/// out[i] = log p(θ_i) + Σ_t log q(x^(t+1) | x^t, θ_i), θ_i row i of `theta`: the log density of θ given the series up
/// to one constant, −log p(x^1 … x^T | x^0); −∞ outside the prior's support. For likelihoods it is exact over x given
/// θ; for ratios log q stands for log q(x^(t+1) | x^t, θ)/q(x^(t+1) | x^t). Throws InputError if the method has no
/// density.
std::vector<double> posterior_log_prob(const PosteriorRequest& request, ConstMatrixView theta,
                                       const Parallel& parallel);

/// Row k: log q(x^(t+1) | x^t, θ_k) of every transition t, θ_k row k of `theta`; of blocks, that of each block. What
/// leave-one-out cross-validation needs; −∞ outside the prior and at its very border. Throws InputError if the method
/// learns no density of transitions (a ratio has lost p(x^(t+1) | x^t)), or beside companions.
Matrix transition_log_likelihood(const PosteriorRequest& request, ConstMatrixView theta, const Parallel& parallel);

/// `request.draws` is of no matter.
MapEstimate posterior_map(const PosteriorRequest& request, const Streams& streams, const Parallel& parallel,
                          Progress& progress = silent_progress());

/// The sentence of warning for a series that leaves the training range; empty if it does not.
std::string extrapolation_warning(const compose::ObservedSeries& observed);

}  // namespace catena::sample

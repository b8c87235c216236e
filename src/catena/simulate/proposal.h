/// State proposals p̃(x): where training transitions start. Each is one file and one line of the registry in
/// proposal.cpp; a description in JSON makes it and is what files record: {"proposal": "fixed", its settings}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/core/array.h"
#include "catena/core/config.h"
#include "catena/core/random.h"
#include "catena/core/registry.h"
#include "catena/simulate/model.h"
#include "catena/simulate/series.h"

namespace catena::simulate {

/// Draws states that do not depend on the θ that will move them. Immutable and thread-safe once made.
class Proposal {
 public:
  virtual ~Proposal() = default;

  /// The m last states of every lane, latest first, and the latest one's t if `time` is not null (padded as the block).
  virtual void draw(Stream& stream, StateBlock state, double* time) const = 0;
  /// How many transitions in a row a drawn state is carried on for, each with a fresh θ; 1 = every state is drawn.
  virtual std::size_t rounds() const { return 1; }
  /// Whether states are drawn in this round of a block of records, or carried on from the round before.
  virtual bool begins(std::size_t /*block*/, std::size_t round) const { return round == 0; }
  /// Transitions that were simulated to make this proposal: part of the budget.
  virtual std::uint64_t cost() const { return 0; }
  /// What makes the same proposal again, defaults included.
  virtual nlohmann::json to_json() const = 0;
};

using ProposalPtr = std::shared_ptr<const Proposal>;

/// What a proposal may be made of.
struct ProposalContext {
  const Model& model;
  Streams streams;                          // of the run: a proposal uses streams.stream("proposal", …)
  std::span<const SeriesView> target = {};  // given series: for the target proposal
  std::span<const Matrix> covariates = {};  // given tables of them, in time order: for series that are simulated
};

struct ProposalEntry {
  std::string_view name;
  std::string_view help;
  std::vector<FieldInfo> settings;
  ProposalPtr (*make)(const nlohmann::json& settings, const ProposalContext& context);
};

const Registry<ProposalEntry>& proposals();

/// What is proposed where nothing is asked for: the model's own default or, for a model whose series have a start, the
/// recipe of the tables in docs/results.md. Those states are close to the ones that series reach, and some are far
/// away; at most a tenth of the budget is spent to find them: 1,000 transitions of 10,000, 5,000 of 100,000 and more.
/// Throws InputError for a model with neither.
nlohmann::json default_proposal(const Model& model, std::uint64_t budget);

/// The proposal of a description.
ProposalPtr make_proposal(std::string_view function, const nlohmann::json& description, const ProposalContext& context);

/// What is added to a pooled state: normal noise of variance e^(2κε) (noise² + (relative_noise · s_i)²) in coordinate
/// i, where s_i is the pool's spread in that coordinate (the quartiles' distance over 1.349: a normal's standard
/// deviation) and ε ~ N(0, 1) belongs to the draw. With κ = 1 most states are close to the pooled ones and a few lie
/// far away, where a transition may say more about θ.
struct PoolNoise {
  double noise = 0.1;
  double relative_noise = 0;
  double tail = 0;  // κ
  bool non_negative = false;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.noise, "noise", "standard deviation of what is added to a pooled state", not_negative());
    visit(c.relative_noise, "relative_noise", "the same, as a share of the pool's own spread in each coordinate",
          not_negative());
    visit(c.tail, "tail", "noise of a draw is scaled by exp(tail times a normal number): 0 none, 1 some go far",
          between(0.0, 3.0));
    visit(c.non_negative, "non_negative", "a coordinate that noise would push below 0 keeps its value", anything());
  }
};

/// Pooled states with noise around them: what the predictive and the target proposal have in common. For a chain of
/// order m, one of them is m states in a row.
class StatePool {
 public:
  StatePool(Matrix states, std::vector<double> times, const PoolNoise& noise);
  std::size_t size() const { return states_.rows(); }
  /// A hash of the pooled states, to tell whether two pools are the same.
  std::string fingerprint() const;
  /// A state at random plus noise ε; where states are non-negative, a coordinate that ε would push below 0 keeps its
  /// value without ε.
  void draw(Stream& stream, StateBlock state, double* time) const;

 private:
  Matrix states_;
  std::vector<double> times_;
  std::vector<double> deviations_;  // of the noise, per coordinate
  double tail_;
  bool non_negative_;
};

/// Pools the finite states of series, `order` in a row; `function` names the caller if there is none.
StatePool pool_states(std::string_view function, std::span<const SeriesView> series, std::size_t order,
                      const PoolNoise& noise);

// Settings of the proposals, whose files are proposal_NAME.cpp.
struct PredictiveSettings {
  int series = 50;
  int length = 100;
  PoolNoise pool;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.series, "series", "prior-predictive series to simulate", between(1, 1000000));
    visit(c.length, "length", "transitions of each of them", between(1, 1000000));
    PoolNoise::fields(c.pool, visit);
  }
};

struct TargetSettings {
  PoolNoise pool;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    PoolNoise::fields(c.pool, visit);
  }
};

struct RolloutSettings {
  int length = 10;
  int short_length = 0;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit(c.length, "length", "transitions in a row from one initial state, each with a fresh theta",
          between(1, 100000));
    visit(c.short_length, "short_length",
          "half of the transitions begin anew from an initial state after so many of them (0: none)",
          between(0, 100000));
  }
};

}  // namespace catena::simulate

#include "catena/simulate/proposal.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "catena/core/check.h"

namespace catena::simulate {

// One file each, proposal_NAME.cpp.
ProposalEntry fixed_proposal();
ProposalEntry predictive_proposal();
ProposalEntry target_proposal();
ProposalEntry rollout_proposal();

const Registry<ProposalEntry>& proposals() {
  static const Registry<ProposalEntry> registry(
      "proposal", {fixed_proposal(), predictive_proposal(), target_proposal(), rollout_proposal()});
  return registry;
}

nlohmann::json default_proposal(const Model& model, std::uint64_t budget) {
  if (!model.proposal.is_null()) return model.proposal;
  if (!model.has_initial_state()) {
    check::that(!model.fixed_proposal.is_null(), "simulate", "the proposal", "missing",
                "given: this simulator has no initial state from which series could show where its states are");
    return model.fixed_proposal;
  }
  const bool large = budget >= 50000;
  // A simulator that depends on time has to see as many times as the series of the tables have.
  const std::uint64_t longest = large || model.simulator.uses_time ? 100 : 50;
  const std::uint64_t cost =
      large ? std::min<std::uint64_t>(budget / 20, 5000) : std::min<std::uint64_t>(budget / 10, 1000);
  const std::uint64_t length = std::clamp<std::uint64_t>(cost, 1, longest);
  return {{"proposal", "predictive"}, {"series", std::max<std::uint64_t>(1, cost / length)},
          {"length", length},         {"noise", 0.0},
          {"relative_noise", 0.5},    {"tail", 1.0}};
}

ProposalPtr make_proposal(std::string_view function, const nlohmann::json& description,
                          const ProposalContext& context) {
  check::that(description.is_object() && description.contains("proposal") && description["proposal"].is_string(),
              function, "the proposal", description.dump(), "an object with a text \"proposal\"");
  nlohmann::json settings = description;
  settings.erase("proposal");
  return proposals().at(function, description["proposal"].get<std::string>()).make(settings, context);
}

namespace {

/// s = (q₀.₇₅ − q₀.₂₅) / 1.349: the standard deviation if the values are normal, and not moved by a few wild series.
double quartile_spread(const Matrix& states, std::size_t coordinate) {
  std::vector<double> values(states.rows());
  for (std::size_t r = 0; r < values.size(); ++r) values[r] = states(r, coordinate);
  const auto quantile = [&](std::size_t rank) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
    std::ranges::nth_element(values, at);
    return *at;
  };
  const double upper = quantile(values.size() * 3 / 4), lower = quantile(values.size() / 4);
  return (upper - lower) / 1.349;
}

}  // namespace

StatePool::StatePool(Matrix states, std::vector<double> times, const PoolNoise& noise)
    : states_(std::move(states)), times_(std::move(times)), tail_(noise.tail), non_negative_(noise.non_negative) {
  CATENA_ASSERT(states_.rows() > 0 && states_.rows() == times_.size());
  for (std::size_t i = 0; i < states_.cols(); ++i) {
    const double relative = noise.relative_noise > 0 ? noise.relative_noise * quartile_spread(states_, i) : 0;
    deviations_.push_back(std::hypot(noise.noise, relative));
  }
}

void StatePool::draw(Stream& stream, StateBlock state, double* time) const {
  for (std::size_t i = 0; i < state.features; ++i) stream.fill_normal({state.feature(i), state.lanes});
  for (std::size_t l = 0; l < state.lanes; ++l) {
    const std::size_t chosen = stream.integer(states_.rows());
    const double scale = tail_ > 0 ? std::exp(tail_ * stream.normal()) : 1;
    for (std::size_t i = 0; i < state.features; ++i) {
      const double kept = states_(chosen, i);
      const double moved = kept + scale * deviations_[i] * state(i, l);
      state(i, l) = non_negative_ && (moved < 0 || (moved == 0 && kept > 0)) ? kept : moved;
    }
    if (time != nullptr) time[l] = times_[chosen];
  }
}

std::string StatePool::fingerprint() const {
  // FNV-1a (Fowler, Noll and Vo) over the bits of the states.
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const double value : states_.values()) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ ((bits >> shift) & 0xFFU)) * 0x100000001B3U;
  }
  return fmt::format("{:016x}", hash);
}

StatePool pool_states(std::string_view function, std::span<const SeriesView> series, std::size_t order,
                      const PoolNoise& noise) {
  std::vector<double> values, times;
  std::size_t states = 0;
  for (const SeriesView& one : series) {
    states = one.states.cols;
    for (std::size_t t = order - 1; t < one.states.rows; ++t) {
      const std::size_t before = values.size();
      for (std::size_t j = 0; j < order; ++j) {  // latest first
        const auto state = one.states.row(t - j);
        values.insert(values.end(), state.begin(), state.end());
      }
      const bool finite = std::all_of(values.begin() + static_cast<std::ptrdiff_t>(before), values.end(),
                                      [](double x) { return std::isfinite(x); });
      if (!finite) {
        values.resize(before);
      } else {
        times.push_back(one.time(t));
      }
    }
  }
  check::at_least(function, "the number of finite states to propose", times.size(), std::size_t{1});
  // Where all pooled states are positive, so are the drawn ones: what is no population, price or concentration would
  // only teach networks what never happens.
  PoolNoise around = noise;
  around.non_negative = noise.non_negative || std::ranges::all_of(values, [](double x) { return x > 0; });
  Matrix pool(times.size(), order * states);
  std::ranges::copy(values, pool.values().begin());
  return StatePool(std::move(pool), std::move(times), around);
}

}  // namespace catena::simulate

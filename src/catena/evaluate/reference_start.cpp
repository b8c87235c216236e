#include "catena/evaluate/reference_start.h"

#include <algorithm>
#include <cmath>

namespace catena::evaluate {

namespace {

constexpr std::size_t block = 8;  // states per parallel block
constexpr int most_temperatures = 1000;

/// Weights exp(step·log L), the largest scaled to 1; a state with L = 0 has weight 0.
std::vector<double> weights(const std::vector<ReferenceState>& states, double step) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const ReferenceState& state : states) largest = std::max(largest, state.log_likelihood);
  std::vector<double> result;
  for (const ReferenceState& state : states) {
    const bool possible = std::isfinite(state.log_likelihood);
    result.push_back(possible ? std::exp(step * (state.log_likelihood - largest)) : 0);
  }
  return result;
}

/// (Σw)²/Σw²
double effective_size(const std::vector<double>& w) {
  double sum = 0, squares = 0;
  for (const double value : w) sum += value, squares += value * value;
  return sum * sum / squares;
}

/// The largest step of β, up to `rest`, that keeps half of the population effective, by bisection.
double next_step(const std::vector<ReferenceState>& states, double rest) {
  // Where the likelihood is 0 nothing can be kept: half of those that are possible, then.
  const double possible = effective_size(weights(states, 0));
  const double wanted = 0.5 * possible;
  if (effective_size(weights(states, rest)) >= wanted) return rest;
  double low = 0, high = rest;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (effective_size(weights(states, middle)) >= wanted ? low : high) = middle;
  }
  return high;
}

/// Systematic resampling: state i comes back about N w_i / Σw times, with one random number for all.
std::vector<ReferenceState> resample(const std::vector<ReferenceState>& states, const std::vector<double>& w,
                                     Stream& stream) {
  double total = 0;
  for (const double value : w) total += value;
  std::vector<ReferenceState> result;
  result.reserve(states.size());
  const double spacing = total / static_cast<double>(states.size());
  const double offset = stream.uniform();
  double passed = w[0];
  std::size_t i = 0;
  for (std::size_t k = 0; k < states.size(); ++k) {
    const double point = spacing * (static_cast<double>(k) + offset);
    while (passed < point && i + 1 < states.size()) passed += w[++i];
    result.push_back(states[i]);
  }
  return result;
}

}  // namespace

Matrix cloud_of(const ReferenceTarget& target, const std::vector<ReferenceState>& states) {
  Matrix cloud(states.size(), target.free().size());
  for (std::size_t r = 0; r < states.size(); ++r) {
    for (std::size_t i = 0; i < cloud.cols(); ++i) cloud(r, i) = states[r].theta[target.free()[i]];
  }
  return cloud;
}

StartingPopulation temper_population(const ReferenceTarget& target, std::size_t population, int moves,
                                     const Streams& streams, const Parallel& parallel, Progress& progress) {
  StartingPopulation result;
  result.states.resize(population);
  std::vector<MoveInfo> infos(population);
  const auto for_states = [&](auto&& body) {
    parallel.for_blocks(population, block, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t i = begin; i < end; ++i) body(i);
    });
    progress.advance(population);
  };
  progress.start("finding the posterior", "likelihoods", 0);
  for_states([&](std::size_t i) {
    Stream stream = streams.stream("prior", i);
    result.states[i] = target.prior_draw(stream);
    infos[i].evaluations = 1;
  });
  double beta = 0, scale = 1;
  for (int stage = 0; beta < 1; ++stage) {
    const bool any_possible =
        std::ranges::any_of(result.states, [](const auto& state) { return std::isfinite(state.log_likelihood); });
    if (!any_possible || stage == most_temperatures) {
      result.outcome = Outcome::diverged;
      break;
    }
    const double step = next_step(result.states, 1 - beta);
    beta = std::min(1.0, beta + step);
    if (1 - beta < 1e-12) beta = 1;
    Stream resampling = streams.stream("resample", stage);
    result.states = resample(result.states, weights(result.states, step), resampling);
    for (int move = 0; move < moves; ++move) {
      const ReferenceProposals proposals(cloud_of(target, result.states));
      std::vector<MoveInfo> now(population);
      for_states([&](std::size_t i) {
        Stream stream = streams.stream("temper", stage, move, i);
        now[i] = local_step(target, proposals, beta, scale, result.states[i], stream);
      });
      MoveInfo all;
      for (std::size_t i = 0; i < population; ++i) all.add(now[i]), infos[i].add(now[i]);
      // Towards the acceptance of 0.3 that is best for random walks in a few dimensions (Roberts et al. 1997).
      const double acceptance = static_cast<double>(all.accepted) / static_cast<double>(all.proposed);
      scale = std::clamp(scale * std::exp(acceptance - 0.3), 0.01, 2.0);
    }
    result.temperatures = stage + 1;
  }
  progress.finish();
  for (const MoveInfo& info : infos) result.info.add(info);
  return result;
}

}  // namespace catena::evaluate

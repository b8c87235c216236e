#include "catena/evaluate/reference/start.h"

#include <algorithm>
#include <cmath>

#include "catena/sample/mcmc/start/resampling.h"

namespace catena::evaluate {

namespace {

constexpr std::size_t block = 8;  // states per parallel block
constexpr int most_temperatures = 1000;
/// Copies of a few survivors are no population: at every temperature this share of them has to move, for which there
/// are so many times the usual moves.
constexpr double least_moved = 0.5;
constexpr int most_times_moves = 50;
/// Of the cloud's own size: far apart modes make it much wider than any of them.
constexpr double smallest_scale = 1e-8;

std::vector<double> log_likelihoods(const std::vector<ReferenceState>& states) {
  std::vector<double> result;
  for (const ReferenceState& state : states) result.push_back(state.log_likelihood);
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
    const std::vector<double> likelihoods = log_likelihoods(result.states);
    const bool any_possible = std::ranges::any_of(likelihoods, [](double value) { return std::isfinite(value); });
    if (!any_possible || stage == most_temperatures) {
      result.outcome = Outcome::diverged;
      break;
    }
    const double step = sample::next_tempering_step(likelihoods, 1 - beta);
    beta = std::min(1.0, beta + step);
    if (1 - beta < 1e-12) beta = 1;
    Stream resampling = streams.stream("resample", stage);
    std::vector<ReferenceState> survivors;
    for (const std::size_t i : sample::resample(sample::tempering_weights(likelihoods, step), resampling)) {
      survivors.push_back(result.states[i]);
    }
    result.states = std::move(survivors);
    std::vector<MoveInfo> here(population);  // at this temperature
    double moved = 0;
    for (int move = 0; move < moves || (moved < least_moved && move < most_times_moves * moves); ++move) {
      const sample::CloudProposals proposals(cloud_of(target, result.states), sample::usual_modes);
      std::vector<MoveInfo> now(population);
      for_states([&](std::size_t i) {
        Stream stream = streams.stream("temper", stage, move, i);
        now[i] = local_step(target, proposals, beta, scale, result.states[i], stream);
      });
      MoveInfo all;
      for (std::size_t i = 0; i < population; ++i) all.add(now[i]), here[i].add(now[i]), infos[i].add(now[i]);
      // Towards the acceptance of 0.3 that is best for random walks in a few dimensions (Roberts et al. 1997).
      const double acceptance = static_cast<double>(all.accepted) / static_cast<double>(all.proposed);
      scale = std::clamp(scale * std::exp(acceptance - 0.3), smallest_scale, 2.0);
      const auto count = std::ranges::count_if(here, [](const MoveInfo& info) { return info.accepted > 0; });
      moved = static_cast<double>(count) / static_cast<double>(population);
      if (progress.stop_requested()) break;
    }
    if (moved < least_moved) {
      result.outcome = Outcome::not_mixed;
      break;
    }
    result.temperatures = stage + 1;
  }
  progress.finish();
  for (const MoveInfo& info : infos) result.info.add(info);
  return result;
}

}  // namespace catena::evaluate

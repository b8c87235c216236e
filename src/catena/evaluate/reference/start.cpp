#include "catena/evaluate/reference/start.h"

#include <algorithm>
#include <cmath>

namespace catena::evaluate {

namespace {

constexpr std::size_t block = 8;  // states per parallel block
/// Copies of a few survivors are no population: at every temperature this share of them has to move, for which there
/// are so many times the usual moves.
constexpr double least_moved = 0.5;
constexpr int most_times_moves = 50;
/// Of the cloud's own size: far apart modes make it much wider than any of them.
constexpr double smallest_scale = 1e-8;

/// θ of all states, one row each.
Matrix thetas_of(const std::vector<ReferenceState>& states) {
  Matrix thetas(states.size(), states.front().theta.size());
  for (std::size_t r = 0; r < states.size(); ++r) std::ranges::copy(states[r].theta, thetas.row(r).begin());
  return thetas;
}

/// The states (θ, u) of a reference, moved within the modes of their cloud, symmetries and u included.
class ReferencePopulation {
 public:
  ReferencePopulation(const ReferenceTarget& target, std::size_t size, int moves, const Streams& streams,
                      const Parallel& parallel, Progress& progress)
      : target_(target),
        moves_(moves),
        streams_(streams),
        parallel_(parallel),
        progress_(progress),
        states_(size),
        infos_(size) {
    for_states([&](std::size_t i) {
      Stream stream = streams_.stream("prior", i);
      states_[i] = target_.prior_draw(stream);
      infos_[i].evaluations = 1;
    });
  }

  std::vector<double> log_likelihoods() const {
    std::vector<double> result;
    for (const ReferenceState& state : states_) result.push_back(state.log_likelihood);
    return result;
  }

  void resample(std::span<const double> weights, double /*beta*/, int stage) {
    Stream stream = streams_.stream("resample", stage);
    std::vector<ReferenceState> survivors;
    for (const std::size_t i : sample::resample(weights, stream)) survivors.push_back(states_[i]);
    states_ = std::move(survivors);
  }

  bool move(double beta, int stage) {
    const std::size_t n = states_.size();
    std::vector<MoveInfo> here(n);  // at this temperature
    double moved = 0;
    for (int move = 0; move < moves_ || (moved < least_moved && move < most_times_moves * moves_); ++move) {
      const sample::CloudProposals proposals(target_.free_columns(thetas_of(states_)), sample::usual_modes);
      std::vector<MoveInfo> now(n);
      for_states([&](std::size_t i) {
        Stream stream = streams_.stream("temper", stage, move, i);
        now[i] = local_step(target_, proposals, beta, scale_, states_[i], stream);
      });
      MoveInfo all;
      for (std::size_t i = 0; i < n; ++i) all.add(now[i]), here[i].add(now[i]), infos_[i].add(now[i]);
      // Towards the acceptance of 0.3 that is best for random walks in a few dimensions (Roberts et al. 1997).
      const double acceptance = static_cast<double>(all.accepted) / static_cast<double>(all.proposed);
      scale_ = std::clamp(scale_ * std::exp(acceptance - 0.3), smallest_scale, 2.0);
      const auto count = std::ranges::count_if(here, [](const MoveInfo& info) { return info.accepted > 0; });
      moved = static_cast<double>(count) / static_cast<double>(n);
      if (progress_.stop_requested()) break;
    }
    return moved >= least_moved;
  }

  std::vector<ReferenceState>& states() { return states_; }
  MoveInfo info() const {
    MoveInfo all;
    for (const MoveInfo& info : infos_) all.add(info);
    return all;
  }

 private:
  template <class Body>
  void for_states(const Body& body) {
    parallel_.for_blocks(states_.size(), block, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t i = begin; i < end; ++i) body(i);
    });
    progress_.advance(states_.size());
  }

  const ReferenceTarget& target_;
  int moves_;
  const Streams& streams_;
  const Parallel& parallel_;
  Progress& progress_;
  std::vector<ReferenceState> states_;
  std::vector<MoveInfo> infos_;
  double scale_ = 1;
};

}  // namespace

StartingPopulation temper_population(const ReferenceTarget& target, std::size_t population, int moves,
                                     const Streams& streams, const Parallel& parallel, Progress& progress) {
  progress.start("finding the posterior", "likelihoods", 0);
  ReferencePopulation points(target, population, moves, streams, parallel, progress);
  sample::TemperingResult tempering = sample::temper(points);
  progress.finish();
  Matrix thetas = thetas_of(points.states());
  return {.states = std::move(points.states()),
          .start = {tempering.outcome, std::move(tempering.betas), {std::move(thetas)}},
          .info = points.info()};
}

}  // namespace catena::evaluate

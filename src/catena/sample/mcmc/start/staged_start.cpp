#include "catena/sample/mcmc/start/staged_start.h"

#include <algorithm>
#include <utility>

#include "catena/sample/mcmc/kernel.h"
#include "catena/sample/mcmc/kernels/cloud_proposals.h"

namespace catena::sample {
namespace {

constexpr std::size_t stage_factor = 4;  // from leg to leg: widths halve, so that some temperatures lead over

/// Points on their way from the base to the target of a leg.
class FollowingPopulation {
 public:
  FollowingPopulation(std::size_t size, std::size_t dimension, int moves, const Streams& streams, Progress& progress)
      : moves_(moves),
        progress_(progress),
        chains_{Matrix(size, dimension), std::vector<double>(size), {}, {}},
        base_values_(size),
        likelihoods_(size),
        proposed_(size, dimension),
        log_correction_(size),
        scratch_(size),
        resampling_(streams.stream("resample")) {
    for (std::size_t i = 0; i < size; ++i) {
      chains_.streams.push_back(streams.stream("start", i));
      chains_.streams[i].fill_normal(chains_.z.row(i));
    }
  }

  const Matrix& points() const { return chains_.z; }

  /// The next leg, from what the points are draws of.
  void aim(const Target& base, const Target& target) {
    base_ = &base, target_ = &target;
    base.log_density(chains_.z, base_values_);
    target.log_density(chains_.z, likelihoods_);
    for (std::size_t i = 0; i < likelihoods_.size(); ++i) likelihoods_[i] -= base_values_[i];
  }

  const std::vector<double>& log_likelihoods() const { return likelihoods_; }

  void resample(std::span<const double> weights, double beta, int /*stage*/) {
    const Matrix before = chains_.z;
    const auto survivors = sample::resample(weights, resampling_);
    for (std::size_t i = 0; i < survivors.size(); ++i) {
      std::ranges::copy(before.row(survivors[i]), chains_.z.row(i).begin());
      chains_.log_density[i] = beta * likelihoods_[survivors[i]] + base_values_[survivors[i]];
    }
  }

  bool move(double beta, int /*stage*/) {
    const TemperedTarget tempered(*target_, beta, base_);
    const CloudProposals proposals(chains_.z, most_pieces);
    for (int move = 0; move < moves_; ++move) {
      for (std::size_t i = 0; i < chains_.size(); ++i) {
        std::ranges::copy(chains_.z.row(i), proposed_.row(i).begin());
        log_correction_[i] = proposals.propose(proposed_.row(i), chains_.streams[i]);
      }
      metropolis(tempered, proposed_, log_correction_, 0, scratch_, chains_);
      progress_.advance(chains_.size());
    }
    base_->log_density(chains_.z, base_values_);
    for (std::size_t i = 0; i < likelihoods_.size(); ++i) {
      likelihoods_[i] = (chains_.log_density[i] - base_values_[i]) / beta;
    }
    return true;
  }

 private:
  int moves_;
  Progress& progress_;
  const Target* base_ = nullptr;
  const Target* target_ = nullptr;
  Chains chains_;
  std::vector<double> base_values_, likelihoods_;  // log base, and log target − log base
  Matrix proposed_;
  std::vector<double> log_correction_, scratch_;
  Stream resampling_;
};

}  // namespace

StagedStart staged_start(const Target& target, std::size_t fewest, std::size_t population, int moves,
                         const Streams& streams, Progress& progress) {
  std::vector<std::unique_ptr<Target>> owned;
  for (std::size_t n = fewest; n * stage_factor <= target.terms(); n *= stage_factor) {
    owned.push_back(target.thinned(n));
  }
  std::vector<CountedTarget> legs;  // with all of their terms last
  legs.reserve(owned.size());
  for (const auto& some : owned) legs.emplace_back(*some);

  const std::size_t d = target.dimension();
  const PointTarget prior(d, [](std::span<const double> z) { return log_prior(z); });
  FollowingPopulation points(population, d, moves, streams, progress);
  const Matrix first = points.points();
  progress.start("finding the posterior", "densities", 0);
  StagedStart result{{Outcome::ok, {0, 1}, {}}};
  const Target* base = &prior;
  for (std::size_t k = 0; k <= legs.size() && result.start.outcome == Outcome::ok; ++k) {
    const Target& next = k < legs.size() ? static_cast<const Target&>(legs[k]) : target;
    points.aim(*base, next);
    const TemperingResult leg = temper(points);
    result.start.outcome = leg.outcome;
    result.temperatures += leg.betas.size() - 1;
    base = &next;
  }
  progress.finish();
  for (const CountedTarget& leg : legs) result.thinned_evaluations += leg.counts().evaluations;
  result.start.points = {first, points.points()};
  return result;
}

}  // namespace catena::sample

#include "catena/sample/mcmc/start/tempered_smc.h"

#include "catena/sample/mcmc/kernel.h"

namespace catena::sample {

namespace {

/// Points in z-space that random walks move, with the target prior^(1−β) target^β.
class WalkingPopulation {
 public:
  WalkingPopulation(const Target& target, std::size_t size, int moves, const Streams& streams, Progress& progress)
      : target_(target),
        moves_(moves),
        progress_(progress),
        chains_{Matrix(size, target.dimension()), std::vector<double>(size), {}, {}},
        likelihoods_(size),
        kernel_(kernels().at("start", "random_walk").make({.dimension = target.dimension(), .chains = size})),
        resampling_(streams.stream("resample")) {
    for (std::size_t i = 0; i < size; ++i) {
      chains_.streams.push_back(streams.stream("start", i));
      chains_.streams[i].fill_normal(chains_.z.row(i));
    }
    points_.push_back(chains_.z);
    target.log_density(chains_.z, chains_.log_density);
    note_likelihoods(1);
  }

  const std::vector<double>& log_likelihoods() const { return likelihoods_; }

  void resample(std::span<const double> weights, double beta, int /*stage*/) {
    const Matrix before = chains_.z;
    const auto survivors = sample::resample(weights, resampling_);
    for (std::size_t i = 0; i < survivors.size(); ++i) {
      std::ranges::copy(before.row(survivors[i]), chains_.z.row(i).begin());
      chains_.log_density[i] = beta * likelihoods_[survivors[i]] + log_prior(chains_.z.row(i));
    }
  }

  bool move(double beta, int /*stage*/) {
    const TemperedTarget tempered(target_, beta);
    for (int move = 0; move < moves_; ++move) {
      kernel_->learn(chains_.z);
      kernel_->adapt(chains_, kernel_->step(tempered, chains_));
      progress_.advance(chains_.size());
    }
    note_likelihoods(beta);
    points_.push_back(chains_.z);
    return true;
  }

  std::vector<Matrix>& points() { return points_; }

 private:
  /// log L = log target − log prior, from a density that is tempered by β.
  void note_likelihoods(double beta) {
    for (std::size_t i = 0; i < likelihoods_.size(); ++i) {
      likelihoods_[i] = (chains_.log_density[i] - log_prior(chains_.z.row(i))) / beta;
    }
  }

  const Target& target_;
  int moves_;
  Progress& progress_;
  Chains chains_;
  std::vector<double> likelihoods_;
  std::unique_ptr<Kernel> kernel_;
  Stream resampling_;
  std::vector<Matrix> points_;  // at each temperature
};

}  // namespace

Start temper_start(const Target& target, std::size_t population, int moves, const Streams& streams,
                   Progress& progress) {
  WalkingPopulation points(target, population, moves, streams, progress);
  progress.start("finding the posterior", "densities", 0);
  TemperingResult tempering = temper(points);
  progress.finish();
  return {tempering.outcome, std::move(tempering.betas), std::move(points.points())};
}

Matrix pick(const Matrix& population, std::size_t n) {
  Matrix result(n, population.cols());
  for (std::size_t i = 0; i < n; ++i) {
    std::ranges::copy(population.row(i * population.rows() / n), result.row(i).begin());
  }
  return result;
}

}  // namespace catena::sample

/// The corrected posterior as a density: draws, log densities and the mode of p(z) N(S; …) (law.h).
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <vector>

#include "catena/sample/correct/law.h"
#include "catena/sample/posterior.h"

namespace catena::sample {

class CorrectedPosterior {
 public:
  CorrectedPosterior(NormalLaw law, Eigen::VectorXd s, prior::TruePrior prior);

  const NormalLaw& law() const { return law_; }
  const prior::TruePrior& prior() const { return prior_; }
  std::unique_ptr<Target> target(LawPrior which, const Parallel& parallel) const;
  /// log p(θ) + log N(S; …) up to a constant; −∞ outside the prior's support.
  std::vector<double> log_prob(ConstMatrixView theta, const Parallel& parallel) const;
  PosteriorDraws draw(std::size_t draws, const Streams& streams, const Parallel& parallel, Progress& progress) const;
  MapEstimate map(const Streams& streams, Progress& progress) const;

 private:
  NormalLaw law_;
  Eigen::VectorXd s_;  // S, whitened
  prior::TruePrior prior_;
};

}  // namespace catena::sample

#include "catena/sample/correct/corrected_posterior.h"

#include "catena/sample/mcmc/chains.h"
#include "catena/sample/posterior_map.h"
#include "catena/sample/posteriors/density.h"

namespace catena::sample {

CorrectedPosterior::CorrectedPosterior(NormalLaw law, Eigen::VectorXd s, prior::TruePrior prior)
    : law_(std::move(law)), s_(std::move(s)), prior_(std::move(prior)) {}

std::unique_ptr<Target> CorrectedPosterior::target(LawPrior which, const Parallel& parallel) const {
  return std::make_unique<LawTarget>(law_, s_, prior_, which, parallel);
}

PosteriorDraws CorrectedPosterior::draw(std::size_t count, const Streams& streams, const Parallel& parallel,
                                        Progress& progress) const {
  const McmcSettings settings;
  McmcDraws made =
      mcmc_sample(*target(LawPrior::truth, parallel), count, settings, streams.child("corrected"), parallel, progress);
  PosteriorDraws draws;
  draws.outcome = made.info.outcome;
  draws.info = chains_info(made.info);
  draws.z = std::move(made.z);
  draws.theta = Matrix(draws.z.rows(), draws.z.cols());
  for (std::size_t k = 0; k < draws.z.rows(); ++k) {
    const std::vector<double> w(draws.z.row(k).begin(), draws.z.row(k).end());
    prior_.to_z(w, draws.z.row(k));
    prior_.prior().to_theta(draws.z.row(k), draws.theta.row(k));
  }
  return draws;
}

std::vector<double> CorrectedPosterior::log_prob(ConstMatrixView theta, const Parallel& parallel) const {
  return log_prob_of_target(*target(LawPrior::networks, parallel), prior_, theta);
}

MapEstimate CorrectedPosterior::map(const Streams& streams, Progress& progress) const {
  MapEstimate found = map_of_target(*target(LawPrior::networks, Parallel(1)), prior_, streams, progress);
  found.theta.resize(found.z.size());
  if (!found.z.empty()) {
    prior_.to_z(std::vector(found.z), found.z);
    prior_.prior().to_theta(found.z, found.theta);
  }
  return found;
}

}  // namespace catena::sample

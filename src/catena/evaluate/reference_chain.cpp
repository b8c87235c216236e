#include "catena/evaluate/reference_chain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catena/core/check.h"

namespace catena::evaluate {

namespace {

constexpr double t_freedom = 5;  // tails heavier than the posterior's, yet with a variance
// Roberts et al. (1997): 2.38/√d is the best scale for a random walk on a Gaussian; √2 less for a difference of two.
constexpr double best_scale = 2.38;

double log_prior(std::span<const double> theta) {
  return -0.5 * std::inner_product(theta.begin(), theta.end(), theta.begin(), 0.0);
}

double sum(const std::vector<double>& terms) { return std::accumulate(terms.begin(), terms.end(), 0.0); }

std::vector<double> free_part(const ReferenceTarget& target, const std::vector<double>& theta) {
  std::vector<double> point;
  for (const std::size_t i : target.free()) point.push_back(theta[i]);
  return point;
}

/// Metropolis–Hastings with u held: log_correction = log q(θ | θ') − log q(θ' | θ).
MoveInfo try_theta(const ReferenceTarget& target, std::span<const double> point, double log_correction, double beta,
                   ReferenceState& state, Stream& stream) {
  std::vector<double> theta = state.theta;
  for (std::size_t i = 0; i < point.size(); ++i) theta[target.free()[i]] = point[i];
  std::vector<double> terms(state.terms.size());
  target.likelihood().log_transitions(theta, state.u, terms);
  const double log_likelihood = sum(terms);
  const double log_ratio =
      log_prior(theta) - log_prior(state.theta) + beta * (log_likelihood - state.log_likelihood) + log_correction;
  if (!(std::log(stream.uniform()) < log_ratio)) return {1, 0, 1};
  state.theta = std::move(theta);
  state.terms = std::move(terms);
  state.log_likelihood = log_likelihood;
  return {1, 1, 1};
}

/// u_t' = ρ u_t + √(1 − ρ²) ε keeps N(0, I); each transition accepts its own with p̂_t(θ, u_t')/p̂_t(θ, u_t).
MoveInfo refresh_normals(const ReferenceTarget& target, double beta, ReferenceState& state, Stream& stream) {
  const std::size_t per_transition = target.likelihood().normals_per_transition();
  if (per_transition == 0) return {};
  // Half the time new ones; half the time a small step, for transitions whose estimate is stuck at a rare high value.
  const double rho = stream.integer(2) == 0 ? 0 : 0.9;
  std::vector<double> u(state.u.size()), terms(state.terms.size());
  stream.fill_normal(u);
  const double fresh = std::sqrt(1 - rho * rho);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = rho * state.u[i] + fresh * u[i];
  target.likelihood().log_transitions(state.theta, u, terms);
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (!(std::log(stream.uniform()) < beta * (terms[t] - state.terms[t]))) continue;
    state.terms[t] = terms[t];
    const auto begin = static_cast<std::ptrdiff_t>(t * per_transition);
    std::copy_n(u.begin() + begin, per_transition, state.u.begin() + begin);
  }
  state.log_likelihood = sum(state.terms);
  return {0, 0, 1};
}

/// The likelihood is the same there, so the prior alone decides.
void move_along_symmetry(const ReferenceTarget& target, ReferenceState& state, Stream& stream) {
  std::vector<double> theta = state.theta;
  if (!target.likelihood().move_to_equivalent(theta, stream)) return;
  if (std::log(stream.uniform()) < log_prior(theta) - log_prior(state.theta)) state.theta = std::move(theta);
}

}  // namespace

ReferenceTarget::ReferenceTarget(const tasks::SeriesLikelihood& likelihood)
    : likelihood_(likelihood), pinned_(likelihood.pinned()) {
  for (std::size_t i = 0; i < likelihood.parameters(); ++i) {
    if (std::ranges::none_of(pinned_, [&](const auto& pin) { return pin.index == i; })) free_.push_back(i);
  }
  CATENA_ASSERT(!free_.empty());
}

ReferenceState ReferenceTarget::prior_draw(Stream& stream) const {
  ReferenceState state;
  state.theta.resize(likelihood_.parameters());
  state.u.resize(likelihood_.transitions() * likelihood_.normals_per_transition());
  state.terms.resize(likelihood_.transitions());
  stream.fill_normal(state.theta);
  for (const tasks::PinnedParameter& pin : pinned_) state.theta[pin.index] = pin.value;
  stream.fill_normal(state.u);
  likelihood_.log_transitions(state.theta, state.u, state.terms);
  state.log_likelihood = sum(state.terms);
  return state;
}

ReferenceProposals::ReferenceProposals(Matrix cloud) : cloud_(std::move(cloud)) {
  CATENA_ASSERT(cloud_.rows() >= 2);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto rows = static_cast<Eigen::Index>(cloud_.rows()), cols = static_cast<Eigen::Index>(cloud_.cols());
  const Eigen::Map<const RowMajor> points(cloud_.data(), rows, cols);
  mean_ = points.colwise().mean().transpose();
  const Eigen::MatrixXd centred = points.rowwise() - mean_.transpose();
  Eigen::MatrixXd covariance = centred.transpose() * centred / static_cast<double>(rows - 1);
  // A cloud that collapsed onto a few points still gives a proposal: never less than 1e-6 of each standard deviation's
  // square (and of 1e-20, if even that is zero) in any direction.
  covariance.diagonal() *= 1 + 1e-6;
  covariance.diagonal().array() += 1e-20;
  const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance);
  if (cholesky.info() == Eigen::Success) {
    lower_ = cholesky.matrixL();
  } else {
    lower_ = covariance.diagonal().cwiseSqrt().asDiagonal();
  }
}

void ReferenceProposals::random_walk(std::span<double> point, double scale, Stream& stream) const {
  const auto d = static_cast<Eigen::Index>(point.size());
  Eigen::VectorXd noise(d);
  for (double& value : noise) value = scale * stream.normal();
  Eigen::Map<Eigen::VectorXd>(point.data(), d) += lower_.triangularView<Eigen::Lower>() * noise;
}

void ReferenceProposals::difference(std::span<double> point, double scale, Stream& stream) const {
  const std::size_t a = stream.integer(cloud_.rows()), b = stream.integer(cloud_.rows());
  for (std::size_t i = 0; i < point.size(); ++i) point[i] += scale * (cloud_(a, i) - cloud_(b, i));
  // A little noise, so that the chain can reach every point and not only a lattice.
  random_walk(point, 0.02, stream);
}

void ReferenceProposals::independent(std::span<double> point, Stream& stream) const {
  std::copy(mean_.begin(), mean_.end(), point.begin());
  random_walk(point, 1 / std::sqrt(stream.gamma(t_freedom / 2) * 2 / t_freedom), stream);
}

double ReferenceProposals::log_independent(std::span<const double> point) const {
  const auto d = static_cast<Eigen::Index>(point.size());
  const Eigen::VectorXd centred = Eigen::Map<const Eigen::VectorXd>(point.data(), d) - mean_;
  const double squared = lower_.triangularView<Eigen::Lower>().solve(centred).squaredNorm();
  return -0.5 * (t_freedom + static_cast<double>(d)) * std::log1p(squared / t_freedom);
}

MoveInfo local_step(const ReferenceTarget& target, const ReferenceProposals& proposals, double beta, double scale,
                    ReferenceState& state, Stream& stream) {
  move_along_symmetry(target, state, stream);
  std::vector<double> point = free_part(target, state.theta);
  const double step = scale * best_scale / std::sqrt(static_cast<double>(point.size()));
  if (stream.integer(2) == 0) {
    proposals.random_walk(point, step, stream);
  } else {
    proposals.difference(point, step / std::sqrt(2.0), stream);
  }
  MoveInfo info = try_theta(target, point, 0, beta, state, stream);
  info.add(refresh_normals(target, beta, state, stream));
  return info;
}

MoveInfo chain_step(const ReferenceTarget& target, const ReferenceProposals& proposals, ReferenceState& state,
                    Stream& stream) {
  move_along_symmetry(target, state, stream);
  std::vector<double> point = free_part(target, state.theta);
  const double best = best_scale / std::sqrt(static_cast<double>(point.size()));
  double log_correction = 0;
  switch (stream.integer(4)) {
    case 0:  // scales from 1.5 times the best one down to a tenth of it: posteriors have narrow places
      proposals.random_walk(point, best * std::exp(0.4 - 2.7 * stream.uniform()), stream);
      break;
    case 1:  // the whole difference now and then: it leads from mode to mode
      proposals.difference(point, stream.integer(5) == 0 ? 1 : best / std::sqrt(2.0), stream);
      break;
    default:
      log_correction = proposals.log_independent(point);
      proposals.independent(point, stream);
      log_correction -= proposals.log_independent(point);
  }
  MoveInfo info = try_theta(target, point, log_correction, 1, state, stream);
  if (stream.integer(2) == 0) info.add(refresh_normals(target, 1, state, stream));
  return info;
}

}  // namespace catena::evaluate

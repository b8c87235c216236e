#include "catena/evaluate/reference/chain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catena/core/check.h"

namespace catena::evaluate {

namespace {

using sample::log_prior;

double sum(const std::vector<double>& terms) { return std::accumulate(terms.begin(), terms.end(), 0.0); }

std::vector<double> free_part(const ReferenceTarget& target, const std::vector<double>& theta) {
  std::vector<double> point;
  for (const std::size_t i : target.free()) point.push_back(theta[i]);
  return point;
}

/// The log likelihood, and its terms if it is an estimate.
double evaluate(const tasks::SeriesLikelihood& likelihood, std::span<const double> theta, std::span<const double> u,
                std::vector<double>& terms) {
  if (likelihood.normals_per_transition() == 0) return likelihood.log_likelihood(theta);
  likelihood.log_transitions(theta, u, terms);
  return sum(terms);
}

/// Metropolis–Hastings with u held: log_correction = log q(θ | θ') − log q(θ' | θ).
MoveInfo try_theta(const ReferenceTarget& target, std::span<const double> point, double log_correction, double beta,
                   ReferenceState& state, Stream& stream) {
  std::vector<double> theta = state.theta;
  for (std::size_t i = 0; i < point.size(); ++i) theta[target.free()[i]] = point[i];
  std::vector<double> terms(state.terms.size());
  const double log_likelihood = evaluate(target.likelihood(), theta, state.u, terms);
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

void ReferenceTarget::log_density(ConstMatrixView theta, std::span<double> out) const {
  CATENA_ASSERT(likelihood_.normals_per_transition() == 0);
  for (std::size_t r = 0; r < theta.rows; ++r) {
    out[r] = log_prior(theta.row(r)) + likelihood_.log_likelihood(theta.row(r));
  }
}

Matrix ReferenceTarget::free_columns(ConstMatrixView theta) const {
  Matrix columns(theta.rows, free_.size());
  for (std::size_t r = 0; r < theta.rows; ++r) {
    for (std::size_t i = 0; i < free_.size(); ++i) columns(r, i) = theta(r, free_[i]);
  }
  return columns;
}

ReferenceState ReferenceTarget::prior_draw(Stream& stream) const {
  ReferenceState state;
  state.theta.resize(likelihood_.parameters());
  state.u.resize(likelihood_.transitions() * likelihood_.normals_per_transition());
  state.terms.resize(likelihood_.normals_per_transition() == 0 ? 0 : likelihood_.transitions());
  stream.fill_normal(state.theta);
  for (const tasks::PinnedParameter& pin : pinned_) state.theta[pin.index] = pin.value;
  stream.fill_normal(state.u);
  state.log_likelihood = evaluate(likelihood_, state.theta, state.u, state.terms);
  return state;
}

MoveInfo local_step(const ReferenceTarget& target, const sample::CloudProposals& proposals, double beta, double scale,
                    ReferenceState& state, Stream& stream) {
  move_along_symmetry(target, state, stream);
  std::vector<double> point = free_part(target, state.theta);
  const double step = scale * sample::best_walk_scale / std::sqrt(static_cast<double>(point.size()));
  const double log_correction = stream.integer(2) == 0 ? proposals.random_walk(point, step, stream)
                                                       : proposals.difference(point, step / std::sqrt(2.0), stream);
  MoveInfo info = try_theta(target, point, log_correction, beta, state, stream);
  info.add(refresh_normals(target, beta, state, stream));
  return info;
}

MoveInfo chain_step(const ReferenceTarget& target, const sample::CloudProposals& proposals, ReferenceState& state,
                    Stream& stream) {
  move_along_symmetry(target, state, stream);
  std::vector<double> point = free_part(target, state.theta);
  const double log_correction = proposals.propose(point, stream);
  MoveInfo info = try_theta(target, point, log_correction, 1, state, stream);
  if (stream.integer(2) == 0) info.add(refresh_normals(target, 1, state, stream));
  return info;
}

}  // namespace catena::evaluate

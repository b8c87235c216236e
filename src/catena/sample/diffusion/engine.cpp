#include "catena/sample/diffusion/engine.h"

#include <algorithm>
#include <cmath>

#include "catena/compose/precision.h"
#include "catena/core/check.h"

namespace catena::sample {

using compose::map;

namespace {

/// η from which on a diffused posterior is the prior's Gaussian for all a sampler can see: nine tenths of y are noise.
constexpr double drowned = 3;

}  // namespace

Level level_at(const diffusion::Schedule& schedule, double eta) {
  const double a = schedule.a_at(eta);
  return {eta, a, schedule.m(a)};
}

std::vector<Level> levels(const diffusion::Schedule& schedule, std::size_t steps, double end_eta) {
  const double start_eta = schedule.eta(1);
  std::vector<Level> result;
  for (std::size_t i = 0; i <= steps; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(steps);
    result.push_back(level_at(schedule, start_eta * std::pow(end_eta / start_eta, share)));
  }
  return result;
}

Engine::Engine(const compose::SeriesScore& score, const Sampler& sampler, std::size_t particles, double largest,
               const LangevinSteps& langevin)
    : score_(score), sampler_(sampler), largest_(largest), langevin_(langevin) {
  const std::size_t d = score.dimension();
  theta_a_ = stage_ = noise_ = Matrix(particles, d);
  slopes_.assign(static_cast<std::size_t>(std::max(1, sampler.stages)), Matrix(particles, d));
  if (langevin_.corrections < 0) langevin_.corrections = sampler.corrections;
  if (sampler.stochastic()) {
    for (const double node : sampler.nodes) CATENA_ASSERT(node == 0 || node == 1);
  }
}

void Engine::score_of_y(const Level& level, ConstMatrixView y, MatrixView out) {
  map(theta_a_.view()) = level.m * map(y);
  const Outcome outcome = score_(theta_a_, level.a, out);
  if (outcome_ == Outcome::ok) outcome_ = outcome;
  map(out) *= level.m;
  ++evaluations_;
  if (!score_.follows_diffusion()) return;
  const double eta_squared = level.eta * level.eta;
  for (std::size_t p = 0; p < y.rows; ++p) {
    for (std::size_t i = 0; i < y.cols; ++i) {
      const double estimate = y(p, i) + eta_squared * out(p, i);
      if (std::abs(estimate) <= largest_ || !std::isfinite(estimate)) continue;
      out(p, i) = (std::copysign(largest_, estimate) - y(p, i)) / eta_squared;
      ++cuts_;
    }
  }
}

void Engine::start(const Level& level, MatrixView y, const Noise& noise) {
  const Eigen::MatrixXd& axes = score_.shape().axes;
  const Eigen::VectorXd variances = score_.level_variances(level.eta);
  // A Gaussian's mean is one Newton step from anywhere: μ = V s_y(0).
  Matrix origin(1, y.cols), slope(1, y.cols);
  const Outcome outcome = score_(origin, level.a, slope);
  if (outcome_ == Outcome::ok) outcome_ = outcome;
  ++evaluations_;
  Eigen::RowVectorXd mean = level.m * map(slope.view()) * axes * variances.asDiagonal() * axes.transpose();
  if (mean.allFinite()) mean = mean.cwiseMin(largest_).cwiseMax(-largest_);
  noise(noise_.values());
  map(y) = map(noise_.view()) * variances.cwiseSqrt().asDiagonal() * axes.transpose();
  map(y).rowwise() += mean;
}

void Engine::step(const Level& from, const Level& to, MatrixView y, const Noise& noise) {
  if (sampler_.predicts()) {
    if (sampler_.stochastic()) {
      noise(noise_.values());
      map(noise_.view()) *= std::sqrt(from.eta * from.eta - to.eta * to.eta);
    }
    propose(from, to, y, noise_);
    accept(from, to, y, noise_);
  }
  correct(from, to, y, noise);
}

// dy = F d(clock), F = −η s_y on the clock η and −s_y on the clock τ.
double Engine::change(const Level& from, const Level& to) const {
  return sampler_.stochastic() ? to.eta * to.eta - from.eta * from.eta : to.eta - from.eta;
}

void Engine::propose(const Level& from, const Level& to, ConstMatrixView y, ConstMatrixView noise) {
  const bool tau = sampler_.stochastic();
  for (int i = 0; i < sampler_.stages; ++i) {
    const double node = sampler_.nodes[i];
    const Level level = node == 0   ? from
                        : node == 1 ? to
                                    : level_at(score_.schedule(), from.eta + node * (to.eta - from.eta));
    map(stage_.view()) = map(y);
    for (int j = 0; j < i; ++j) {
      map(stage_.view()) += change(from, to) * sampler_.stage_weights[i][j] * map(slopes_[j].view());
    }
    if (tau && node == 1) map(stage_.view()) += map(noise);
    score_of_y(level, stage_, slopes_[i]);
    map(slopes_[i].view()) *= tau ? -1 : -level.eta;
  }
}

double Engine::error(const Level& from, const Level& to) {
  map(stage_.view()) = -map(slopes_[0].view());
  for (int i = 0; i < sampler_.stages; ++i) map(stage_.view()) += sampler_.weights[i] * map(slopes_[i].view());
  return std::abs(change(from, to)) *
         std::sqrt(map(stage_.view()).squaredNorm() / static_cast<double>(stage_.values().size()));
}

void Engine::accept(const Level& from, const Level& to, MatrixView y, ConstMatrixView noise) {
  for (int i = 0; i < sampler_.stages; ++i) {
    map(y) += change(from, to) * sampler_.weights[i] * map(slopes_[i].view());
  }
  if (sampler_.stochastic()) map(y) += map(noise);
}

int Engine::corrections_at(const Level& level) const {
  return sampler_.predicts() && level.eta > drowned ? 0 : langevin_.corrections;
}

void Engine::correct(const Level& from, const Level& to, MatrixView y, const Noise& noise) {
  const int corrections = corrections_at(to);
  if (corrections == 0) return;
  double bound = to.eta * to.eta;
  // A rule whose path is no diffusion's may be narrower than its noise.
  if (!score_.follows_diffusion()) bound = std::min(bound, score_.level_variances(to.eta).minCoeff());
  if (sampler_.predicts()) bound = std::min(bound, from.eta * from.eta - to.eta * to.eta);
  const double delta = langevin_.rate * bound;
  for (int k = 0; k < corrections; ++k) {
    score_of_y(to, y, slopes_[0]);
    noise(noise_.values());
    map(y) += delta * map(slopes_[0].view()) + std::sqrt(2 * delta) * map(noise_.view());
  }
}

void Engine::denoise(const Level& level, MatrixView y) {
  score_of_y(level, y, slopes_[0]);
  map(y) += level.eta * level.eta * map(slopes_[0].view());
}

}  // namespace catena::sample

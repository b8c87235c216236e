#include "catena/sample/diffusion/adaptive.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catena/compose/precision.h"

namespace catena::sample {
namespace {

using compose::map;

// A step is aimed a little below the tolerance, and no step changes by more than these factors: the usual constants of
// step-size control (hairer1993, section II.4).
constexpr double safety = 0.9, shortest_change = 0.2, longest_change = 5;
/// The first step: a hundredth of the way in log η.
constexpr double first_share = 0.01;
constexpr double rounding = 1e-9;         // of the way: what is left is the end
constexpr double smallest_error = 1e-12;  // a score without error must not divide by zero

/// A Brownian path in τ = η² that remembers what it has been asked for: W from the current level to `end`.
class RememberedNoise {
 public:
  RememberedNoise(std::size_t particles, std::size_t d, const Noise& noise)
      : noise_(noise), ahead_(particles, d), fresh_(particles, d), drawn_(particles, d) {}

  /// The increment from τ down to `to`; at most to the end of what is already drawn.
  ConstMatrixView increment(double tau, double to) {
    if (!pending_) {
      noise_(ahead_.values());
      map(ahead_.view()) *= std::sqrt(tau - to);
      end_ = to;
      pending_ = true;
      return ahead_;
    }
    if (to <= end_) return ahead_;
    // A bridge: given W over τ − end, its part over τ − to has mean share · W and this variance.
    const double share = (tau - to) / (tau - end_);
    noise_(fresh_.values());
    map(drawn_.view()) = share * map(ahead_.view()) + std::sqrt(share * (to - end_)) * map(fresh_.view());
    // What is ahead of the current level is known at `to` now, and beyond it no more: the two parts are kept.
    map(rest_or_new().view()) = map(ahead_.view()) - map(drawn_.view());
    rest_end_.push_back(end_);
    std::swap(ahead_, drawn_);
    end_ = to;
    return ahead_;
  }
  /// The increment was used.
  void advance() {
    pending_ = !rest_end_.empty();
    if (!pending_) return;
    std::swap(ahead_, rest_[rest_end_.size() - 1]);
    end_ = rest_end_.back();
    rest_end_.pop_back();
  }
  /// No step may pass this τ; −1 if none is drawn.
  double end() const { return pending_ ? end_ : -1; }

 private:
  Matrix& rest_or_new() {
    if (rest_.size() == rest_end_.size()) rest_.emplace_back(ahead_.rows(), ahead_.cols());
    return rest_[rest_end_.size()];
  }

  const Noise& noise_;
  Matrix ahead_, fresh_, drawn_;
  std::vector<Matrix> rest_;      // parts of the path beyond `ahead_`, the nearest last
  std::vector<double> rest_end_;  // where they end
  double end_ = 0;
  bool pending_ = false;
};

}  // namespace

Outcome adaptive_steps(Engine& engine, const compose::SeriesScore& score, const Sampler& sampler, const Level& from,
                       const Level& to, const AdaptiveSettings& settings, MatrixView y, const Noise& noise) {
  RememberedNoise path(y.rows, y.cols, noise);
  const Matrix none(y.rows, y.cols);
  const double whole = std::log(from.eta / to.eta);
  double length = first_share * whole;
  Level now = from;
  Outcome outcome = Outcome::ok;
  for (std::size_t step = 0; now.eta > to.eta; ++step) {
    const bool forced = step >= settings.most_steps;
    if (forced) outcome = Outcome::step_limit;
    double eta = forced ? to.eta : std::max(to.eta, now.eta * std::exp(-length));
    if (std::log(eta / to.eta) < rounding * whole) eta = to.eta;
    if (sampler.stochastic() && path.end() > eta * eta) eta = std::sqrt(path.end());
    const Level next = eta == to.eta ? to : level_at(score.schedule(), eta);
    const ConstMatrixView w =
        sampler.stochastic() ? path.increment(now.eta * now.eta, next.eta * next.eta) : ConstMatrixView(none);
    engine.propose(now, next, y, w);
    const double scale = std::sqrt(score.level_variances(next.eta).minCoeff());
    const double relative = engine.error(now, next) / (scale * settings.tolerance);
    const bool good = relative <= 1;  // and so finite
    length = std::log(now.eta / next.eta) *
             (good || std::isfinite(relative)
                  ? std::clamp(safety / std::sqrt(std::max(relative, smallest_error)), shortest_change, longest_change)
                  : shortest_change);
    if (!good && !forced) continue;
    engine.accept(now, next, y, w);
    if (sampler.stochastic()) path.advance();
    engine.correct(now, next, y, noise);
    now = next;
  }
  return outcome;
}

}  // namespace catena::sample

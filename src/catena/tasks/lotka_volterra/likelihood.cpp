#include "catena/tasks/lotka_volterra/lotka_volterra.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/core/check.h"
#include "catena/core/log_mean_exp.h"
#include "catena/tasks/exact/guided_bridge.h"
#include "catena/tasks/exact/series.h"
#include "catena/tasks/likelihood.h"

namespace catena::tasks::lotka_volterra {

namespace {

/// One inner step: x ← x + (α − βy) x dt + σxy √dt ε₁, y ← y + (δx − γ) y dt + σxy √dt ε₂.
struct InnerStep {
  double alpha, beta, gamma, delta, sigma, dt;

  InnerStep(std::span<const double> theta, double noise, const Constants& constants)
      : alpha(theta[0]), beta(theta[1]), gamma(theta[2]), delta(theta[3]), sigma(noise), dt(constants.dt) {}

  Eigen::Vector2d step(const Eigen::Vector2d& z) const {
    return {z[0] + (alpha - beta * z[1]) * z[0] * dt, z[1] + (delta * z[0] - gamma) * z[1] * dt};
  }
  Eigen::Matrix2d jacobian(const Eigen::Vector2d& z) const {
    Eigen::Matrix2d result;
    result << 1 + (alpha - beta * z[1]) * dt, -beta * z[0] * dt, delta * z[1] * dt, 1 + (delta * z[0] - gamma) * dt;
    return result;
  }
  Eigen::Vector2d variances(const Eigen::Vector2d& z) const {
    const double sd = sigma * z[0] * z[1];
    const double q = sd * sd * dt;
    return {q, q};
  }
  double log_factor(const std::vector<Eigen::Vector2d>&) const { return 0; }
};

/// Transitions of which coordinate c ended at 0. The noise σxy vanishes with c, so c gets below 0 in one leap and then
/// stays where it is: paths are sampled by the step j at which c first is below 0. With s = σ|xy|√dt at z_k, μ =
/// f(z_k), j uniform on 1 … K (weight K),
///   c_{k+1} | c_{k+1} > 0 if k + 1 < j,   c_{k+1} | c_{k+1} < 0 if k + 1 = j,   N(μ_c, s²) if k + 1 > j,
/// each with the probability of its condition as weight. Then the other coordinate o, which knows c_{k+1} and with it
/// how much noise is still to come: with o_K ≈ m + A (o_{k+1} − μ_o) + N(0, V) along the noise-free path from
/// (c_{k+1}, μ_o), it is drawn given o_K, weight N(o_K; m, A²s² + V) / N(o_K; m + A(o_{k+1} − μ_o), V). The last step
/// contributes Φ(−μ_c/s), and N(o_K; μ_o, s²) or, if o was clipped too, Φ(−μ_o/s); o is not guided in that case.
class ClippedPaths {
 public:
  ClippedPaths(const InnerStep& model, int steps) : model_(model), steps_(steps) {}

  double log_estimate(const exact::ClippedTransition& transition, std::span<const double> u) const {
    const std::size_t per_particle = exact::bridge_normals(steps_);
    const std::size_t particles = u.size() / per_particle;
    std::vector<double> log_weights;
    for (std::size_t i = 0; i < particles; ++i) {
      log_weights.push_back(log_path_weight(transition, u.data() + i * per_particle));
    }
    return log_mean_exp(log_weights);
  }

 private:
  double log_path_weight(const exact::ClippedTransition& transition, const double* normals) const {
    const auto normal = [normals](int k, std::size_t which) {
      return normals[2 * static_cast<std::size_t>(k) + which];
    };
    const int c = transition.clipped[0] ? 0 : 1, o = 1 - c;
    const bool both = transition.clipped[0] && transition.clipped[1];
    const double end = transition.end[o];
    const int crossing =
        1 + std::min(steps_ - 1, static_cast<int>(steps_ * prior::normal_lower(normal(steps_ - 1, 0))));
    double log_weight = std::log(steps_);
    Eigen::Vector2d z = transition.start;
    for (int k = 0; k + 1 < steps_; ++k) {
      const Eigen::Vector2d mean = model_.step(z);
      const double s = std::sqrt(model_.variances(z)[0]);
      Eigen::Vector2d next = mean;
      if (k + 1 > crossing) {
        next[c] += s * normal(k, 0);
      } else {
        // Below 0 or, mirrored, above 0.
        const double side = k + 1 == crossing ? 1 : -1;
        double log_density = 0;
        const double t = exact::draw_truncated(-side * mean[c] / s, normal(k, 0), log_density);
        next[c] += side * s * t;
        log_weight += -0.5 * t * t - exact::log_sqrt_2pi - log_density;
      }
      if (both) {
        next[o] += s * normal(k, 1);
      } else {
        log_weight += draw_guided(o, end, s, steps_ - k - 1, normal(k, 1), next);
      }
      z = next;
    }
    const Eigen::Vector2d mean = model_.step(z);
    const double s = std::sqrt(model_.variances(z)[0]);
    log_weight += exact::log_normal_cdf(-mean[c] / s);
    return log_weight + (both ? exact::log_normal_cdf(-mean[o] / s) : exact::log_normal_density(end, mean[o], s));
  }

  /// Replaces next[o], which is μ_o, by a draw given the end; returns the log of its weight.
  double draw_guided(int o, double end, double s, int remaining, double normal, Eigen::Vector2d& next) const {
    Eigen::Vector2d path = next;
    double a = 1, v = 0;
    for (int k = 0; k < remaining; ++k) {
      const double f = model_.jacobian(path)(o, o);
      v = f * f * v + model_.variances(path)[o];
      a *= f;
      path = model_.step(path);
    }
    const double miss = end - path[o], total = a * a * s * s + v;
    const double shift = a * s * s / total * miss + s * std::sqrt(v / total) * normal;
    next[o] += shift;
    return exact::log_normal_density(miss, 0, std::sqrt(total)) -
           exact::log_normal_density(miss, a * shift, std::sqrt(v));
  }

  const InnerStep& model_;
  int steps_;  // K
};

class Likelihood : public SeriesLikelihood {
 public:
  Likelihood(double sigma, ConstMatrixView series, std::size_t particles, const Constants& constants)
      : sigma_(sigma), constants_(constants), particles_(particles) {
    for (std::size_t t = 0; t + 1 < series.rows; ++t) {
      const Eigen::Vector2d start(series(t, 0), series(t, 1)), end(series(t + 1, 0), series(t + 1, 1));
      const bool random = start[0] > 0 && start[1] > 0;
      random_.push_back(random);
      transitions_.push_back({start, end, {end[0] == 0, end[1] == 0}});
      if (!random) read_deterministic(start, end, t);
    }
  }

  std::size_t parameters() const override { return 4; }
  std::size_t transitions() const override { return transitions_.size(); }
  std::size_t normals_per_transition() const override { return particles_ * exact::bridge_normals(constants_.steps); }
  std::vector<PinnedParameter> pinned() const override { return pinned_; }

  void log_transitions(std::span<const double> theta, std::span<const double> u, std::span<double> out) const override {
    const InnerStep model(theta, sigma_, constants_);
    exact::GuidedBridge<InnerStep> bridge(model, constants_.steps);
    const ClippedPaths clipped(model, constants_.steps);
    const std::size_t normals = normals_per_transition();
    for (std::size_t t = 0; t < transitions_.size(); ++t) {
      const exact::ClippedTransition& transition = transitions_[t];
      const auto normals_of_t = u.subspan(t * normals, normals);
      if (!random_[t]) {
        out[t] = 0;  // certain, once the parameter that it pins has its value
      } else if (transition.clipped[0] || transition.clipped[1]) {
        out[t] = clipped.log_estimate(transition, normals_of_t);
      } else {
        out[t] = bridge.log_estimate(transition, normals_of_t);
      }
    }
  }

 private:
  /// With x = 0 (or y = 0) the noise σxy vanishes and stays so: (0, y) → (0, y (1 − γ dt)^K), (x, 0) → (x (1 + α dt)^K,
  /// 0).
  void read_deterministic(const Eigen::Vector2d& start, const Eigen::Vector2d& end, std::size_t t) {
    for (int i = 0; i < 2; ++i) {
      if (start[i] == 0) {
        check::that(end[i] == 0, "lotka_volterra", fmt::format("series[{}][{}]", t + 1, i), end[i],
                    "0, since the state before is 0 and has no noise");
        continue;
      }
      // The rate that the one possible path implies: alpha (index 0) grows x, gamma (index 2) shrinks y.
      const double growth = (std::pow(end[i] / start[i], 1.0 / constants_.steps) - 1) / constants_.dt;
      const double rate = i == 0 ? growth : -growth;
      check::that(rate > constants_.least_rate && rate < constants_.least_rate + constants_.rate_range,
                  "lotka_volterra", fmt::format("series[{}][{}]", t + 1, i), end[i],
                  "what some parameter makes of the state before, which has no noise");
      pin(i == 0 ? 0 : 2, rate, t);
    }
  }

  void pin(std::size_t index, double value, std::size_t t) {
    for (const PinnedParameter& known : pinned_) {
      if (known.index != index) continue;
      // The rates of two such transitions agree up to rounding, which the K-th root and dt amplify to about 1e-13, and
      // files with fewer digits to more.
      check::that(std::abs(known.value - value) < 1e-6, "lotka_volterra", fmt::format("series[{}]", t + 1), value,
                  fmt::format("consistent with the noise-free transition before it, which says {}", known.value));
      return;
    }
    pinned_.push_back({index, value});
  }

  double sigma_;
  Constants constants_;
  std::size_t particles_;
  std::vector<exact::ClippedTransition> transitions_;
  std::vector<bool> random_;
  std::vector<PinnedParameter> pinned_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series, std::size_t particles,
                                             const Constants& constants) {
  check_config("lotka_volterra", options);
  check::at_least("lotka_volterra", "steps", constants.steps, 1);
  check::positive("lotka_volterra", "dt", constants.dt);
  check::at_least("lotka_volterra", "particles", particles, std::size_t{1});
  exact::check_series("lotka_volterra", series, 2);
  for (std::size_t t = 0; t < series.rows; ++t) {
    for (const double value : series.row(t)) check::not_negative("lotka_volterra", fmt::format("series[{}]", t), value);
  }
  return std::make_unique<Likelihood>(options.sigma, series, particles, constants);
}

}  // namespace catena::tasks::lotka_volterra

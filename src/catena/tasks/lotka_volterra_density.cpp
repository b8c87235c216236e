#include "catena/tasks/lotka_volterra_density.h"

#include <fmt/format.h>

#include <cmath>

#include "catena/core/check.h"
#include "catena/tasks/guided_bridge_density.h"

namespace catena::tasks {

namespace {

/// One inner step: x ← x + (α − βy) x dt + σxy √dt ε₁, y ← y + (δx − γ) y dt + σxy √dt ε₂.
struct InnerStep {
  double alpha, beta, gamma, delta, sigma, dt;

  InnerStep(std::span<const double> theta, const LotkaVolterraConstants& constants)
      : alpha(rate(theta[0])),
        beta(rate(theta[1])),
        gamma(rate(theta[2])),
        delta(rate(theta[3])),
        sigma(constants.sigma),
        dt(constants.dt) {}

  static double rate(double theta) { return 1 + 2 / (1 + std::exp(-theta)); }

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

class LotkaVolterraLikelihood : public SeriesLikelihood {
 public:
  LotkaVolterraLikelihood(const LotkaVolterraConstants& constants, ConstMatrixView series, std::size_t particles)
      : constants_(constants), particles_(particles) {
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
  std::size_t normals_per_transition() const override { return particles_ * bridge_normals(constants_.steps); }
  std::vector<PinnedParameter> pinned() const override { return pinned_; }

  void log_transitions(std::span<const double> theta, std::span<const double> u, std::span<double> out) const override {
    const InnerStep model(theta, constants_);
    GuidedBridge<InnerStep> bridge(model, constants_.steps);
    const std::size_t normals = normals_per_transition();
    for (std::size_t t = 0; t < transitions_.size(); ++t) {
      // A noise-free transition is certain once the parameter it pins has its value.
      out[t] = random_[t] ? bridge.log_estimate(transitions_[t], u.subspan(t * normals, normals)) : 0;
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
      const double sigmoid = ((i == 0 ? growth : -growth) - 1) / 2;
      check::that(sigmoid > 0 && sigmoid < 1, "lotka_volterra", fmt::format("series[{}][{}]", t + 1, i), end[i],
                  "what some parameter makes of the state before, which has no noise");
      pin(i == 0 ? 0 : 2, std::log(sigmoid / (1 - sigmoid)), t);
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

  LotkaVolterraConstants constants_;
  std::size_t particles_;
  std::vector<ClippedTransition> transitions_;
  std::vector<bool> random_;
  std::vector<PinnedParameter> pinned_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> lotka_volterra_likelihood(const LotkaVolterraConstants& constants,
                                                            ConstMatrixView series, std::size_t particles) {
  check::positive("lotka_volterra", "sigma", constants.sigma);
  check::at_least("lotka_volterra", "steps", constants.steps, 1);
  check::positive("lotka_volterra", "dt", constants.dt);
  check::at_least("lotka_volterra", "particles", particles, std::size_t{1});
  check_series("lotka_volterra", series, 2);
  for (std::size_t t = 0; t < series.rows; ++t) {
    for (const double value : series.row(t)) check::not_negative("lotka_volterra", fmt::format("series[{}]", t), value);
  }
  return std::make_unique<LotkaVolterraLikelihood>(constants, series, particles);
}

}  // namespace catena::tasks

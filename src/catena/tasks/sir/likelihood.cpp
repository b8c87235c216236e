#include "catena/tasks/sir/sir.h"

#include <fmt/format.h>

#include <cmath>

#include "catena/core/check.h"
#include "catena/tasks/exact/guided_bridge.h"
#include "catena/tasks/exact/series.h"
#include "catena/tasks/likelihood.h"

namespace catena::tasks::sir {

namespace {

/// log N(value; mean, sd²), or the log of the mass below 0 if the value is 0 because it was clipped.
double log_clipped_normal(double value, double mean, double sd) {
  return value == 0 ? exact::log_normal_cdf(-mean / sd) : exact::log_normal_density(value, mean, sd);
}

/// One inner step of (S, I): S ← S − βSI dt + σ√dt ε₁, I ← I + (βS − γ) I dt + τI√dt ε₂. Given the path of I, R sums up
/// to R_K ~ N(R_0 + γ dt Σ_{k<K} I_k, Kσ²dt).
struct InnerStep {
  double gamma, beta, dt, noise, infected_noise;
  double recovered_start = 0, recovered_end = 0;

  InnerStep(std::span<const double> theta, const Constants& constants)
      : gamma(theta[0]),
        beta(theta[1]),
        dt(constants.dt),
        noise(constants.noise),
        infected_noise(constants.infected_noise) {}

  Eigen::Vector2d step(const Eigen::Vector2d& z) const {
    const double infected = beta * z[0] * z[1] * dt;
    return {z[0] - infected, z[1] + infected - gamma * z[1] * dt};
  }
  Eigen::Matrix2d jacobian(const Eigen::Vector2d& z) const {
    Eigen::Matrix2d result;
    result << 1 - beta * z[1] * dt, -beta * z[0] * dt, beta * z[1] * dt, 1 + (beta * z[0] - gamma) * dt;
    return result;
  }
  Eigen::Vector2d variances(const Eigen::Vector2d& z) const {
    const double sd = infected_noise * z[1];
    return {noise * noise * dt, sd * sd * dt};
  }
  double log_factor(const std::vector<Eigen::Vector2d>& path) const {
    double infected = 0;
    for (const Eigen::Vector2d& z : path) infected += z[1];
    const double sd = noise * std::sqrt(dt * static_cast<double>(path.size()));
    return log_clipped_normal(recovered_end, recovered_start + gamma * dt * infected, sd);
  }
};

class Likelihood : public SeriesLikelihood {
 public:
  Likelihood(ConstMatrixView series, std::size_t particles, const Constants& constants)
      : constants_(constants), particles_(particles), series_(exact::copy_series(series)) {}

  std::size_t parameters() const override { return 2; }
  std::size_t transitions() const override { return series_.rows() - 1; }
  std::size_t normals_per_transition() const override { return particles_ * exact::bridge_normals(constants_.steps); }

  void log_transitions(std::span<const double> theta, std::span<const double> u, std::span<double> out) const override {
    InnerStep model(theta, constants_);
    exact::GuidedBridge<InnerStep> bridge(model, constants_.steps);
    const std::size_t normals = normals_per_transition();
    for (std::size_t t = 0; t < transitions(); ++t) {
      const auto now = series_.row(t), next = series_.row(t + 1);
      if (now[1] == 0) {
        out[t] = log_without_infection(now, next);
        continue;
      }
      model.recovered_start = now[2];
      model.recovered_end = next[2];
      const exact::ClippedTransition transition{{now[0], now[1]}, {next[0], next[1]}, {next[0] == 0, next[1] == 0}};
      out[t] = bridge.log_estimate(transition, u.subspan(t * normals, normals));
    }
  }

 private:
  /// I = 0 stays 0, and S and R are plain random walks, each of K steps.
  double log_without_infection(std::span<const double> now, std::span<const double> next) const {
    const double sd = constants_.noise * std::sqrt(constants_.dt * constants_.steps);
    return log_clipped_normal(next[0], now[0], sd) + log_clipped_normal(next[2], now[2], sd);
  }

  Constants constants_;
  std::size_t particles_;
  Matrix series_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> likelihood(ConstMatrixView series, std::size_t particles,
                                             const Constants& constants) {
  check::at_least("sir", "steps", constants.steps, 1);
  check::positive("sir", "dt", constants.dt);
  check::positive("sir", "noise", constants.noise);
  check::positive("sir", "infected_noise", constants.infected_noise);
  check::at_least("sir", "particles", particles, std::size_t{1});
  exact::check_series("sir", series, 3);
  for (std::size_t t = 0; t < series.rows; ++t) {
    for (const double value : series.row(t)) check::not_negative("sir", fmt::format("series[{}]", t), value);
    if (t > 0 && series(t - 1, 1) == 0) {
      check::that(series(t, 1) == 0, "sir", fmt::format("series[{}][1]", t), series(t, 1),
                  "0, since nobody was infected before");
    }
  }
  return std::make_unique<Likelihood>(series, particles, constants);
}

}  // namespace catena::tasks::sir

#include "catena/tasks/likelihood.h"

#include <cmath>
#include <limits>

#include "catena/core/check.h"
#include "catena/tasks/exact/normal.h"
#include "catena/tasks/exact/series.h"
#include "catena/tasks/kolmogorov_flow/solver.h"

namespace catena::tasks::kolmogorov_flow {

namespace {

/// log p(x^(t+1) | x^t, θ) = −½ ‖r_t‖² − 2n² log(σ√2π), r_t = (x^(t+1) − solver(x^t, θ))/σ. Where the solver leaves the
/// finite numbers nothing but 0 and ±3 could have been observed: density zero.
class Likelihood final : public SeriesLikelihood {
 public:
  Likelihood(const Options& options, ConstMatrixView series, const Constants& constants)
      : sigma_(options.sigma), solver_(options, constants), series_(exact::copy_series(series)) {}

  std::size_t parameters() const override { return 2; }
  std::size_t transitions() const override { return series_.rows() - 1; }
  std::size_t residuals_per_transition() const override { return series_.cols(); }

  void residuals(std::span<const double> theta, std::size_t t, std::span<double> out) const override {
    Flow flow(solver_.side());
    std::vector<float> state(series_.row(t).begin(), series_.row(t).end());
    solver_.read(std::span<const float>(state), flow);
    solver_.run(theta[0], theta[1], flow);
    solver_.write(flow, std::span<float>(state));
    for (std::size_t i = 0; i < state.size(); ++i) {
      out[i] = (series_(t + 1, i) - static_cast<double>(state[i])) / sigma_;
    }
  }

  void log_transitions(std::span<const double> theta, std::span<const double>, std::span<double> out) const override {
    std::vector<double> r(residuals_per_transition());
    for (std::size_t t = 0; t < transitions(); ++t) {
      residuals(theta, t, r);
      double squares = 0;
      for (const double value : r) squares += value * value;
      const double log_density =
          -0.5 * squares - static_cast<double>(r.size()) * (exact::log_sqrt_2pi + std::log(sigma_));
      out[t] = std::isfinite(log_density) ? log_density : -std::numeric_limits<double>::infinity();
    }
  }

 private:
  double sigma_;
  Solver solver_;
  Matrix series_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series,
                                             const Constants& constants) {
  check_config("kolmogorov_flow", options);
  check::positive("kolmogorov_flow", "dt", constants.dt);
  exact::check_series("kolmogorov_flow", series, options.states());
  return std::make_unique<Likelihood>(options, series, constants);
}

}  // namespace catena::tasks::kolmogorov_flow

#include "catena/tasks/exact/regression.h"

#include <cmath>

#include "catena/tasks/exact/normal.h"

namespace catena::tasks::exact {

namespace {

/// y_t ~ N(w_t·θ, v): precision I + Σ_t w_t w_tᵀ/v, mean precision⁻¹ Σ_t w_t y_t/v.
class Regression final : public SeriesLikelihood {
 public:
  Regression(Eigen::MatrixXd regressors, Eigen::VectorXd response, double variance)
      : w_(std::move(regressors)), y_(std::move(response)), variance_(variance) {}

  std::size_t parameters() const override { return static_cast<std::size_t>(w_.cols()); }
  std::size_t transitions() const override { return static_cast<std::size_t>(y_.size()); }

  void log_transitions(std::span<const double> theta, std::span<const double>, std::span<double> out) const override {
    const Eigen::Map<const Eigen::VectorXd> coefficients(theta.data(), w_.cols());
    for (Eigen::Index t = 0; t < y_.size(); ++t) {
      const double residual = y_[t] - w_.row(t).dot(coefficients);
      out[static_cast<std::size_t>(t)] =
          -0.5 * residual * residual / variance_ - log_sqrt_2pi - 0.5 * std::log(variance_);
    }
  }

  std::optional<NormalPosterior> closed_form_posterior() const override {
    const auto d = w_.cols();
    const Eigen::MatrixXd precision = Eigen::MatrixXd::Identity(d, d) + w_.transpose() * w_ / variance_;
    const Eigen::MatrixXd covariance = precision.llt().solve(Eigen::MatrixXd::Identity(d, d));
    return NormalPosterior{covariance * (w_.transpose() * y_ / variance_), covariance};
  }

 private:
  Eigen::MatrixXd w_;
  Eigen::VectorXd y_;
  double variance_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> regression_likelihood(Eigen::MatrixXd regressors, Eigen::VectorXd response,
                                                        double variance) {
  return std::make_unique<Regression>(std::move(regressors), std::move(response), variance);
}

}  // namespace catena::tasks::exact

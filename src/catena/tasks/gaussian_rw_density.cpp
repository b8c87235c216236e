#include "catena/tasks/gaussian_rw_density.h"

#include "catena/core/check.h"
#include "catena/tasks/normal_density.h"

namespace catena::tasks {

namespace {

/// r_t = x^(t+1) − c_t x^t ~ N(θ, I), so with the prior N(0, I): θ | series ~ N( Σ_t r_t / (T + 1), I / (T + 1) ).
class GaussianWalkLikelihood : public SeriesLikelihood {
 public:
  GaussianWalkLikelihood(const std::vector<double>& coefficients, ConstMatrixView series)
      : residuals_(series.rows - 1, series.cols) {
    for (std::size_t t = 0; t < residuals_.rows(); ++t) {
      for (std::size_t i = 0; i < series.cols; ++i)
        residuals_(t, i) = series(t + 1, i) - coefficients[t] * series(t, i);
    }
  }

  std::size_t parameters() const override { return residuals_.cols(); }
  std::size_t transitions() const override { return residuals_.rows(); }

  void log_transitions(std::span<const double> theta, std::span<const double>, std::span<double> out) const override {
    for (std::size_t t = 0; t < residuals_.rows(); ++t) {
      double squared = 0;
      for (std::size_t i = 0; i < theta.size(); ++i) {
        const double difference = residuals_(t, i) - theta[i];
        squared += difference * difference;
      }
      out[t] = -0.5 * squared - static_cast<double>(theta.size()) * log_sqrt_2pi;
    }
  }

  std::optional<NormalPosterior> closed_form_posterior() const override {
    const auto d = static_cast<Eigen::Index>(parameters());
    const double precision = static_cast<double>(transitions()) + 1;
    NormalPosterior posterior{Eigen::VectorXd::Zero(d), Eigen::MatrixXd::Identity(d, d) / precision};
    for (std::size_t t = 0; t < transitions(); ++t) {
      for (Eigen::Index i = 0; i < d; ++i) posterior.mean[i] += residuals_(t, static_cast<std::size_t>(i)) / precision;
    }
    return posterior;
  }

 private:
  Matrix residuals_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> gaussian_walk_likelihood(const std::vector<double>& coefficients,
                                                           ConstMatrixView series) {
  CATENA_ASSERT(coefficients.size() + 1 == series.rows);
  return std::make_unique<GaussianWalkLikelihood>(coefficients, series);
}

std::unique_ptr<SeriesLikelihood> gaussian_rw_likelihood(const GaussianRwConstants& constants, ConstMatrixView series) {
  check_series("gaussian_rw", series, constants.dim);
  return gaussian_walk_likelihood(std::vector<double>(series.rows - 1, constants.coefficient), series);
}

}  // namespace catena::tasks

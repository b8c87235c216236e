#include "catena/tasks/gaussian_rw_density.h"

#include <cmath>

#include "catena/core/check.h"
#include "catena/tasks/normal_density.h"

namespace catena::tasks {

namespace {

/// r_t = x' − c_t x ~ N(b_t θ, v_t I), so with the prior N(0, I): θ | series ~ N( Σ_t b_t r_t/v_t / P, I/P ),
/// P = 1 + Σ_t b_t²/v_t.
class LinearFactors final : public SeriesLikelihood {
 public:
  LinearFactors(std::span<const LinearFactor> factors, std::size_t dim) : residuals_(factors.size(), dim) {
    for (std::size_t t = 0; t < factors.size(); ++t) {
      const LinearFactor& factor = factors[t];
      gains_.push_back(factor.gain);
      variances_.push_back(factor.variance);
      for (std::size_t i = 0; i < dim; ++i) {
        residuals_(t, i) = factor.next[i] - (factor.now.empty() ? 0 : factor.coefficient * factor.now[i]);
      }
    }
  }

  std::size_t parameters() const override { return residuals_.cols(); }
  std::size_t transitions() const override { return residuals_.rows(); }

  void log_transitions(std::span<const double> theta, std::span<const double>, std::span<double> out) const override {
    for (std::size_t t = 0; t < residuals_.rows(); ++t) {
      double squared = 0;
      for (std::size_t i = 0; i < theta.size(); ++i) {
        const double difference = residuals_(t, i) - gains_[t] * theta[i];
        squared += difference * difference;
      }
      out[t] = -0.5 * squared / variances_[t] -
               static_cast<double>(theta.size()) * (log_sqrt_2pi + 0.5 * std::log(variances_[t]));
    }
  }

  std::optional<NormalPosterior> closed_form_posterior() const override {
    const auto d = static_cast<Eigen::Index>(parameters());
    double precision = 1;
    for (std::size_t t = 0; t < transitions(); ++t) precision += gains_[t] * gains_[t] / variances_[t];
    NormalPosterior posterior{Eigen::VectorXd::Zero(d), Eigen::MatrixXd::Identity(d, d) / precision};
    for (std::size_t t = 0; t < transitions(); ++t) {
      const double weight = gains_[t] / variances_[t] / precision;
      for (Eigen::Index i = 0; i < d; ++i) posterior.mean[i] += weight * residuals_(t, static_cast<std::size_t>(i));
    }
    return posterior;
  }

 private:
  Matrix residuals_;
  std::vector<double> gains_, variances_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> linear_factors_likelihood(std::span<const LinearFactor> factors, std::size_t dim) {
  return std::make_unique<LinearFactors>(factors, dim);
}

std::unique_ptr<SeriesLikelihood> gaussian_walk_likelihood(const std::vector<double>& coefficients,
                                                           ConstMatrixView series) {
  CATENA_ASSERT(coefficients.size() + 1 == series.rows);
  std::vector<LinearFactor> factors;
  for (std::size_t t = 0; t < coefficients.size(); ++t) {
    factors.push_back({series.row(t + 1), series.row(t), coefficients[t], 1, 1});
  }
  return linear_factors_likelihood(factors, series.cols);
}

std::unique_ptr<SeriesLikelihood> gaussian_rw_likelihood(const GaussianRwConstants& constants, ConstMatrixView series,
                                                         std::span<const double> steps) {
  check_series("gaussian_rw", series, constants.dim);
  const double c = constants.coefficient;
  std::vector<LinearFactor> factors;
  for (std::size_t t = 0; t + 1 < series.rows; ++t) {
    LinearFactor factor{series.row(t + 1), series.row(t), c, 1, 1};
    const double k = t < steps.size() ? steps[t] : 1;
    if (k != 1) {
      factor.coefficient = std::pow(c, k);
      factor.gain = (1 - std::pow(c, k)) / (1 - c);
      factor.variance = (1 - std::pow(c, 2 * k)) / (1 - c * c);
    }
    factors.push_back(factor);
  }
  return linear_factors_likelihood(factors, constants.dim);
}

}  // namespace catena::tasks

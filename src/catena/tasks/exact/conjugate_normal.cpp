#include "catena/tasks/exact/conjugate_normal.h"

#include <cmath>

#include "catena/tasks/exact/normal.h"

namespace catena::tasks::exact {

namespace {

/// r_t = x' − c_t x ~ N(b_t θ, v_t I), so with the prior N(0, I): θ | series ~ N( Σ_t b_t r_t/v_t / P, I/P ),
/// P = 1 + Σ_t b_t²/v_t.
class ConjugateNormal final : public SeriesLikelihood {
 public:
  ConjugateNormal(std::span<const NormalFactor> factors, std::size_t dim) : residuals_(factors.size(), dim) {
    for (std::size_t t = 0; t < factors.size(); ++t) {
      const NormalFactor& factor = factors[t];
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

std::unique_ptr<SeriesLikelihood> conjugate_normal_likelihood(std::span<const NormalFactor> factors, std::size_t dim) {
  return std::make_unique<ConjugateNormal>(factors, dim);
}

}  // namespace catena::tasks::exact

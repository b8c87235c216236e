#include "catena/tasks/mixture_rw/mixture_rw.h"

#include <cmath>
#include <numbers>

#include "catena/core/check.h"
#include "catena/tasks/exact/normal.h"
#include "catena/tasks/exact/series.h"
#include "catena/tasks/likelihood.h"

namespace catena::tasks::mixture_rw {

namespace {

/// With δ = x' − x:  p = ½N(δ; θ, σ²I) + ½N(δ; −θ, σ²I)
///   log p = −(|δ|² + |θ|²)/2σ² + log cosh(δ·θ/σ²) − n log(σ√2π).
class Likelihood : public SeriesLikelihood {
 public:
  Likelihood(double sigma, ConstMatrixView series) : sigma_(sigma), steps_(series.rows - 1, series.cols) {
    for (std::size_t t = 0; t < steps_.rows(); ++t) {
      for (std::size_t i = 0; i < series.cols; ++i) steps_(t, i) = series(t + 1, i) - series(t, i);
    }
  }

  std::size_t parameters() const override { return steps_.cols(); }
  std::size_t transitions() const override { return steps_.rows(); }

  void log_transitions(std::span<const double> theta, std::span<const double>, std::span<double> out) const override {
    const double n = static_cast<double>(theta.size());
    const double constant = -n * (std::log(sigma_) + exact::log_sqrt_2pi);
    for (std::size_t t = 0; t < steps_.rows(); ++t) {
      double squares = 0, product = 0;
      for (std::size_t i = 0; i < theta.size(); ++i) {
        squares += steps_(t, i) * steps_(t, i) + theta[i] * theta[i];
        product += steps_(t, i) * theta[i];
      }
      const double a = std::abs(product) / (sigma_ * sigma_);
      const double log_cosh = a + std::log1p(std::exp(-2 * a)) - std::numbers::ln2;
      out[t] = constant - squares / (2 * sigma_ * sigma_) + log_cosh;
    }
  }

  bool move_to_equivalent(std::span<double> theta, Stream& stream) const override {
    if (stream.integer(2) == 0) {
      for (double& value : theta) value = -value;
    }
    return true;
  }

 private:
  double sigma_;
  Matrix steps_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series) {
  check_config("mixture_rw", options);
  exact::check_series("mixture_rw", series, static_cast<std::size_t>(options.dim));
  return std::make_unique<Likelihood>(options.sigma, series);
}

}  // namespace catena::tasks::mixture_rw

#include "catena/tasks/linear_sde/linear_sde.h"

#include "catena/core/check.h"
#include "catena/tasks/exact/linear_gaussian.h"
#include "catena/tasks/exact/series.h"
#include "catena/tasks/likelihood.h"

namespace catena::tasks::linear_sde {

namespace {

/// M: a fixed-size Eigen matrix for the sizes in use, one on the heap for the others.
template <class M>
class Likelihood : public SeriesLikelihood {
 public:
  Likelihood(const Options& options, ConstMatrixView series, const Constants& constants)
      : constants_(constants),
        drift_scale_(options.drift_scale),
        n_(options.dim),
        series_(exact::copy_series(series)),
        moments_(series_) {}

  std::size_t parameters() const override { return static_cast<std::size_t>(2 * n_ * n_); }
  std::size_t transitions() const override { return series_.rows() - 1; }

  void log_transitions(std::span<const double> theta, std::span<const double>, std::span<double> out) const override {
    exact::log_linear_gaussian(law(theta), series_, out);
  }

  double log_likelihood(std::span<const double> theta) const override { return moments_.log_density(law(theta)); }

  /// B → BQ with Q uniform on the orthogonal group (the Q of a Gaussian matrix, signs fixed): BBᵀ stays.
  bool move_to_equivalent(std::span<double> theta, Stream& stream) const override {
    M gaussian(n_, n_);
    for (Eigen::Index i = 0; i < n_; ++i) {
      for (Eigen::Index j = 0; j < n_; ++j) gaussian(i, j) = stream.normal();
    }
    const Eigen::HouseholderQR<M> qr(gaussian);
    M q = qr.householderQ();
    for (Eigen::Index j = 0; j < n_; ++j) {
      if (qr.matrixQR()(j, j) < 0) q.col(j) = -q.col(j);
    }
    const M moved = diffusion(theta) * q;
    for (Eigen::Index i = 0; i < n_; ++i) {
      for (Eigen::Index j = 0; j < n_; ++j) {
        const double shift = i == j ? constants_.diffusion_shift : 0;
        theta[static_cast<std::size_t>(n_ * n_ + i * n_ + j)] = (moved(i, j) - shift) / constants_.diffusion_scale;
      }
    }
    return true;
  }

 private:
  exact::LinearGaussian<M> law(std::span<const double> theta) const {
    const M a = drift_scale_ * half(theta, 0) - constants_.drift_shift * M::Identity(n_, n_);
    const M b = diffusion(theta);
    const M bbt = b * b.transpose();
    return exact::euler_steps(a, bbt, constants_.dt, constants_.steps);
  }
  M half(std::span<const double> theta, Eigen::Index which) const {
    M result(n_, n_);
    for (Eigen::Index i = 0; i < n_; ++i) {
      for (Eigen::Index j = 0; j < n_; ++j) result(i, j) = theta[static_cast<std::size_t>((which * n_ + i) * n_ + j)];
    }
    return result;
  }
  M diffusion(std::span<const double> theta) const {
    return constants_.diffusion_scale * half(theta, 1) + constants_.diffusion_shift * M::Identity(n_, n_);
  }

  Constants constants_;
  double drift_scale_;
  Eigen::Index n_;
  Matrix series_;
  exact::TransitionMoments<M> moments_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series,
                                             const Constants& constants) {
  check_config("linear_sde", options);
  check::at_least("linear_sde", "steps", constants.steps, 1);
  check::positive("linear_sde", "dt", constants.dt);
  check::positive("linear_sde", "diffusion_scale", constants.diffusion_scale);
  exact::check_series("linear_sde", series, static_cast<std::size_t>(options.dim));
  if (options.dim == 2) return std::make_unique<Likelihood<Eigen::Matrix2d>>(options, series, constants);
  if (options.dim == 3) return std::make_unique<Likelihood<Eigen::Matrix3d>>(options, series, constants);
  return std::make_unique<Likelihood<Eigen::MatrixXd>>(options, series, constants);
}

}  // namespace catena::tasks::linear_sde

#include "catena/tasks/linear_sde_density.h"

#include "catena/core/check.h"
#include "catena/tasks/linear_gaussian_density.h"

namespace catena::tasks {

namespace {

constexpr std::size_t largest_n = 8;  // 2n² = 128 parameters: beyond what random-walk chains can sample anyway

/// M: a fixed-size Eigen matrix for the sizes in use, one on the heap for the others.
template <class M>
class LinearSdeLikelihood : public SeriesLikelihood {
 public:
  LinearSdeLikelihood(const LinearSdeConstants& constants, ConstMatrixView series)
      : constants_(constants),
        n_(static_cast<Eigen::Index>(constants.n)),
        series_(copy_series(series)),
        moments_(series_) {}

  std::size_t parameters() const override { return 2 * constants_.n * constants_.n; }
  std::size_t transitions() const override { return series_.rows() - 1; }

  void log_transitions(std::span<const double> theta, std::span<const double>, std::span<double> out) const override {
    log_linear_gaussian(law(theta), series_, out);
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
  LinearGaussian<M> law(std::span<const double> theta) const {
    const M a = constants_.drift_scale * half(theta, 0) - constants_.drift_shift * M::Identity(n_, n_);
    const M b = diffusion(theta);
    const M bbt = b * b.transpose();
    return euler_steps(a, bbt, constants_.dt, constants_.steps);
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

  LinearSdeConstants constants_;
  Eigen::Index n_;
  Matrix series_;
  TransitionMoments<M> moments_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> linear_sde_likelihood(const LinearSdeConstants& constants, ConstMatrixView series) {
  check::between("linear_sde", "n", constants.n, std::size_t{1}, largest_n);
  check::at_least("linear_sde", "steps", constants.steps, 1);
  check::positive("linear_sde", "dt", constants.dt);
  check::positive("linear_sde", "diffusion_scale", constants.diffusion_scale);
  check_series("linear_sde", series, constants.n);
  if (constants.n == 2) return std::make_unique<LinearSdeLikelihood<Eigen::Matrix2d>>(constants, series);
  if (constants.n == 3) return std::make_unique<LinearSdeLikelihood<Eigen::Matrix3d>>(constants, series);
  return std::make_unique<LinearSdeLikelihood<Eigen::MatrixXd>>(constants, series);
}

}  // namespace catena::tasks

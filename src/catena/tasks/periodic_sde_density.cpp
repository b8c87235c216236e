#include "catena/tasks/periodic_sde_density.h"

#include "catena/core/check.h"
#include "catena/tasks/linear_gaussian_density.h"

namespace catena::tasks {

namespace {

class PeriodicSdeLikelihood : public SeriesLikelihood {
 public:
  PeriodicSdeLikelihood(const PeriodicSdeConstants& constants, ConstMatrixView series)
      : constants_(constants), series_(copy_series(series)), moments_(series_) {}

  std::size_t parameters() const override { return 2; }
  std::size_t transitions() const override { return series_.rows() - 1; }

  void log_transitions(std::span<const double> theta, std::span<const double>, std::span<double> out) const override {
    log_linear_gaussian(law(theta), series_, out);
  }

  double log_likelihood(std::span<const double> theta) const override { return moments_.log_density(law(theta)); }

  bool move_to_equivalent(std::span<double> theta, Stream& stream) const override {
    for (double& value : theta) {
      if (stream.integer(2) == 0) value = -value;
    }
    return true;
  }

 private:
  LinearGaussian<Eigen::Matrix2d> law(std::span<const double> theta) const {
    Eigen::Matrix2d a;
    const double sign = constants_.minus_sign ? -1 : 1;
    a << 0, sign * theta[0] * theta[0], theta[1] * theta[1], 0;
    const Eigen::Matrix2d bbt = constants_.noise * constants_.noise * Eigen::Matrix2d::Identity();
    return euler_steps(a, bbt, constants_.dt, constants_.steps);
  }

  PeriodicSdeConstants constants_;
  Matrix series_;
  TransitionMoments<Eigen::Matrix2d> moments_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> periodic_sde_likelihood(const PeriodicSdeConstants& constants,
                                                          ConstMatrixView series) {
  check::at_least("periodic_sde", "steps", constants.steps, 1);
  check::positive("periodic_sde", "dt", constants.dt);
  check::positive("periodic_sde", "noise", constants.noise);
  check_series("periodic_sde", series, 2);
  return std::make_unique<PeriodicSdeLikelihood>(constants, series);
}

}  // namespace catena::tasks

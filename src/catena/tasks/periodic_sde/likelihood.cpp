#include "catena/tasks/periodic_sde/periodic_sde.h"

#include "catena/core/check.h"
#include "catena/tasks/exact/linear_gaussian.h"
#include "catena/tasks/exact/series.h"
#include "catena/tasks/likelihood.h"

namespace catena::tasks::periodic_sde {

namespace {

class Likelihood : public SeriesLikelihood {
 public:
  Likelihood(double sign, ConstMatrixView series, const Constants& constants)
      : sign_(sign), constants_(constants), series_(exact::copy_series(series)), moments_(series_) {}

  std::size_t parameters() const override { return 2; }
  std::size_t transitions() const override { return series_.rows() - 1; }

  void log_transitions(std::span<const double> theta, std::span<const double>, std::span<double> out) const override {
    exact::log_linear_gaussian(law(theta), series_, out);
  }

  double log_likelihood(std::span<const double> theta) const override { return moments_.log_density(law(theta)); }

  bool move_to_equivalent(std::span<double> theta, Stream& stream) const override {
    for (double& value : theta) {
      if (stream.integer(2) == 0) value = -value;
    }
    return true;
  }

 private:
  exact::LinearGaussian<Eigen::Matrix2d> law(std::span<const double> theta) const {
    Eigen::Matrix2d a;
    a << 0, sign_ * theta[0] * theta[0], theta[1] * theta[1], 0;
    const Eigen::Matrix2d bbt = constants_.noise * constants_.noise * Eigen::Matrix2d::Identity();
    return exact::euler_steps(a, bbt, constants_.dt, constants_.steps);
  }

  double sign_;
  Constants constants_;
  Matrix series_;
  exact::TransitionMoments<Eigen::Matrix2d> moments_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> likelihood(const Options& options, ConstMatrixView series,
                                             const Constants& constants) {
  check::at_least("periodic_sde", "steps", constants.steps, 1);
  check::positive("periodic_sde", "dt", constants.dt);
  check::positive("periodic_sde", "noise", constants.noise);
  exact::check_series("periodic_sde", series, 2);
  return std::make_unique<Likelihood>(options.sign(), series, constants);
}

}  // namespace catena::tasks::periodic_sde

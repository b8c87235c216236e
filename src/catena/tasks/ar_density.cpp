#include "catena/tasks/ar_density.h"

#include "catena/core/check.h"
#include "catena/tasks/normal_density.h"

namespace catena::tasks {

namespace {

class ArLikelihood final : public SeriesLikelihood {
 public:
  ArLikelihood(std::size_t order, double scale, ConstMatrixView series)
      : windows_(static_cast<Eigen::Index>(series.rows - order), static_cast<Eigen::Index>(order)),
        next_(static_cast<Eigen::Index>(series.rows - order)) {
    for (std::size_t t = 0; t + order < series.rows; ++t) {
      const auto row = static_cast<Eigen::Index>(t);
      next_[row] = series(t + order, 0);
      for (std::size_t j = 0; j < order; ++j) {
        windows_(row, static_cast<Eigen::Index>(j)) = scale * series(t + order - 1 - j, 0);
      }
    }
  }

  std::size_t parameters() const override { return static_cast<std::size_t>(windows_.cols()); }
  std::size_t transitions() const override { return static_cast<std::size_t>(next_.size()); }

  void log_transitions(std::span<const double> theta, std::span<const double>, std::span<double> out) const override {
    const Eigen::Map<const Eigen::VectorXd> coefficients(theta.data(), windows_.cols());
    for (Eigen::Index t = 0; t < next_.size(); ++t) {
      const double residual = next_[t] - windows_.row(t).dot(coefficients);
      out[static_cast<std::size_t>(t)] = -0.5 * residual * residual - log_sqrt_2pi;
    }
  }

  std::optional<NormalPosterior> closed_form_posterior() const override {
    const auto d = windows_.cols();
    const Eigen::MatrixXd precision = Eigen::MatrixXd::Identity(d, d) + windows_.transpose() * windows_;
    const Eigen::MatrixXd covariance = precision.llt().solve(Eigen::MatrixXd::Identity(d, d));
    return NormalPosterior{covariance * (windows_.transpose() * next_), covariance};
  }

 private:
  Eigen::MatrixXd windows_;  // s w_t
  Eigen::VectorXd next_;
};

}  // namespace

std::unique_ptr<SeriesLikelihood> ar_likelihood(std::size_t order, double scale, ConstMatrixView series) {
  check::that(series.rows > order, "ar", "the number of states in the series", series.rows,
              fmt::format("at least {}: {} to start from and one transition", order + 1, order));
  check::equal("ar", "the number of columns of the series", series.cols, std::size_t{1});
  for (std::size_t t = 0; t < series.rows; ++t) check::all_finite("ar", fmt::format("series[{}]", t), series.row(t));
  return std::make_unique<ArLikelihood>(order, scale, series);
}

}  // namespace catena::tasks

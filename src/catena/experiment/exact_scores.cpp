#include "catena/experiment/exact_scores.h"

#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "catena/core/check.h"

namespace catena::experiment {

const std::vector<std::string>& tasks_with_exact_scores() {
  static const std::vector<std::string> names = {"gaussian_rw", "mixture_rw"};
  return names;
}

ExactScores::ExactScores(const tasks::Task& task, ConstMatrixView series, const diffusion::Schedule& schedule)
    : schedule_(schedule), v_(series.rows - 1, series.cols) {
  const std::vector<std::string>& known = tasks_with_exact_scores();
  check::that(std::ranges::find(known, task.name) != known.end(), "experiment", "the task of exact scores", task.name,
              fmt::format("{}, whose diffused local posteriors are known", fmt::join(known, " or ")));
  both_signs_ = task.name == "mixture_rw";
  alpha_ = both_signs_ ? 1 : 0.9;
  s_ = both_signs_ ? task.options.at("sigma").get<double>() : 1;
  for (std::size_t t = 0; t < v_.rows(); ++t) {
    for (std::size_t i = 0; i < v_.cols(); ++i) v_(t, i) = series(t + 1, i) - alpha_ * series(t, i);
  }
}

void ExactScores::scores(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end, MatrixView out) const {
  scores_and_jacobians(theta_a, a, begin, end, out, MatrixView());
}

void ExactScores::scores_and_jacobians(ConstMatrixView theta_a, double a, std::size_t begin, std::size_t end,
                                       MatrixView out, MatrixView jacobians) const {
  const double m = schedule_.m(a), variance = m * m + schedule_.sigma_squared(a), factor = m / variance;
  const double tau_squared = schedule_.sigma_squared(a) / variance, p = 1 / (s_ * s_ + tau_squared);
  const std::size_t d = dimension();
  for (std::size_t t = begin; t < end; ++t) {
    const auto v = v_.row(t);
    for (std::size_t particle = 0; particle < theta_a.rows; ++particle) {
      const auto theta = theta_a.row(particle);
      double product = 0;  // v·ẑ
      for (std::size_t i = 0; i < d; ++i) product += v[i] * factor * theta[i];
      const double w = both_signs_ ? std::tanh(p * product) : 1;
      const std::size_t row = (t - begin) * theta_a.rows + particle;
      const auto score = out.row(row);
      for (std::size_t i = 0; i < d; ++i) {
        score[i] = factor * p * (w * v[i] - factor * theta[i]) - theta[i] / variance;
      }
      if (jacobians.rows == 0) continue;
      const auto jacobian = jacobians.row(row);
      const double slope = factor * factor * p * p * (1 - w * w), level = factor * factor * p + 1 / variance;
      for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t j = 0; j < d; ++j) jacobian[i * d + j] = slope * v[i] * v[j] - (i == j ? level : 0);
      }
    }
  }
}

compose::LocalPrecisions ExactScores::precisions() const {
  const auto d = static_cast<Eigen::Index>(dimension());
  const double s_squared = s_ * s_;
  compose::LocalPrecisions result(transitions(), dimension() * dimension());
  for (std::size_t t = 0; t < transitions(); ++t) {
    const Eigen::Map<const Eigen::VectorXd> v(v_.row(t).data(), d);
    Eigen::MatrixXd covariance = s_squared / (1 + s_squared) * Eigen::MatrixXd::Identity(d, d);
    if (both_signs_) covariance += v * v.transpose() / ((1 + s_squared) * (1 + s_squared));
    Eigen::Map<Eigen::MatrixXd>(result.row(t).data(), d, d) = covariance.inverse();
  }
  return result;
}

}  // namespace catena::experiment

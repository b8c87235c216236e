// The coordinates of local posteriors against formulas with plain matrices.
#include "catena/model/score/local_precondition.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "catena/core/random.h"
#include "catena/nn/gaussian.h"

namespace catena::model::local_precondition_test {
namespace {

/// A Gaussian in d dimensions as its network would give it, with deviations of 1/5 to 5 and correlations.
std::vector<double> outputs_of(std::size_t d, std::uint64_t seed) {
  std::vector<double> outputs(nn::gaussian_parameters(d));
  Streams(seed).stream("outputs").fill_normal(outputs);
  return outputs;
}

struct Plain {
  Eigen::MatrixXd l;
  Eigen::VectorXd b;
  explicit Plain(const std::vector<double>& outputs, std::size_t d) {
    const std::vector<float> floats(outputs.begin(), outputs.end());
    const nn::GaussianValues values = nn::gaussian_values(floats, d);
    l = values.l;
    b = values.b;
  }
};

TEST(LocalCoordinates, GiveTheDiffusedGaussiansOwnScoreWhereTheNetworkGivesNothing) {
  for (const std::size_t d : {1U, 2U, 5U, 8U}) {
    const std::vector<double> outputs = outputs_of(d, d);
    const Plain plain(outputs, d);
    const auto size = static_cast<Eigen::Index>(d);
    LocalCoordinates coordinates;
    coordinates.set(outputs, d);
    for (const auto& [m, sigma] : {std::pair{0.999, 0.03}, std::pair{0.8, 0.6}, std::pair{0.08, 0.997}}) {
      LocalLevel level;
      coordinates.at(m, sigma, level);
      Eigen::VectorXd theta(size);
      Streams(7).stream("theta").fill_normal({theta.data(), d});
      std::vector<double> xi(d);
      level.local({theta.data(), d}, xi);

      const Eigen::MatrixXd covariance = (plain.l.transpose() * plain.l).inverse();
      const Eigen::VectorXd mean = plain.l.triangularView<Eigen::Lower>().solve(plain.b);
      const Eigen::MatrixXd noised = m * m * covariance + sigma * sigma * Eigen::MatrixXd::Identity(size, size);
      const Eigen::VectorXd score = -noised.ldlt().solve(theta - m * mean);
      const Eigen::MatrixXd v =
          m * m * Eigen::MatrixXd::Identity(size, size) + sigma * sigma * plain.l * plain.l.transpose();
      for (std::size_t i = 0; i < d; ++i) {
        double s = 0;
        for (std::size_t j = 0; j < d; ++j) s -= level.gain[i * d + j] * xi[j];
        // Doubles; L comes from floats on the one side.
        const auto row = static_cast<Eigen::Index>(i);
        EXPECT_NEAR(s, score(row), 1e-4 * (1 + std::abs(score(row)))) << d << " " << sigma;
        EXPECT_NEAR(level.scale[i], 1 / std::sqrt(v(row, row)), 1e-5 * level.scale[i]);
      }
    }
  }
}

TEST(LocalCoordinates, TellTheNetworkWidthsAndMeans) {
  const std::size_t d = 4;
  const std::vector<double> outputs = outputs_of(d, 3);
  const Plain plain(outputs, d);
  LocalCoordinates coordinates;
  coordinates.set(outputs, d);
  std::vector<float> features(local_features(d));
  coordinates.features(features);
  const Eigen::VectorXd mean = plain.l.triangularView<Eigen::Lower>().solve(plain.b);
  for (std::size_t i = 0; i < d; ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    EXPECT_NEAR(features[i], std::log(plain.l(row, row)), 1e-5);
    EXPECT_NEAR(features[d + i], mean(row), 1e-4 * (1 + std::abs(mean(row))));
  }
}

}  // namespace
}  // namespace catena::model::local_precondition_test

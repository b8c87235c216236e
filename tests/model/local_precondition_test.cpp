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

TEST(LocalLanes, DoForEveryLaneWhatLocalCoordinatesDoForOne) {
  for (const std::size_t d : {1U, 3U, 8U}) {
    constexpr std::size_t features = 4, lanes = 37;  // not a multiple of any vector
    const LocalGaussianGraph graph = record_local_gaussian(16, d, features);
    const LocalGaussianNetwork network(16, named_weights(graph.graph, graph.graph.initial_weights(Streams(3))), "test",
                                       d, features);
    LaneBlock condition(features + local_features(d), lanes), theta(d, lanes), variable(d, lanes),
        outputs(nn::gaussian_parameters(d), lanes);
    std::vector<float> m(lanes), sigma(lanes);
    Stream stream = Streams(5).stream("lanes");
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t f = 0; f < features; ++f) condition(f, l) = static_cast<float>(2 * stream.normal());
      for (std::size_t f = 0; f < d; ++f) theta(f, l) = static_cast<float>(stream.normal());
      sigma[l] = static_cast<float>(0.03 + 0.9 * stream.uniform());
      m[l] = std::sqrt(1 - sigma[l] * sigma[l]);
    }
    LocalLanes all;
    all.read(network, condition);
    all.at(m, sigma, theta, variable);
    network.evaluate(condition.view().slice_features(0, features), outputs);
    for (std::size_t l = 0; l < lanes; ++l) {
      std::vector<double> row(outputs.features()), at(d), xi(d);
      for (std::size_t f = 0; f < row.size(); ++f) row[f] = outputs(f, l);
      for (std::size_t f = 0; f < d; ++f) at[f] = theta(f, l);
      LocalCoordinates one;
      one.set(row, d);
      std::vector<float> seen(local_features(d));
      one.features(seen);
      LocalLevel level;
      one.at(m[l], sigma[l], level);
      level.local(at, xi);
      for (std::size_t f = 0; f < seen.size(); ++f) {
        EXPECT_NEAR(condition(features + f, l), seen[f], 1e-5 * (1 + std::abs(seen[f])));
      }
      for (std::size_t i = 0; i < d; ++i) {
        EXPECT_NEAR(all.xi(i, l), xi[i], 1e-12 * (1 + std::abs(xi[i])));
        EXPECT_NEAR(variable(i, l), level.scale[i] * xi[i], 1e-5 * (1 + std::abs(xi[i])));
        for (std::size_t j = 0; j < d; ++j) {
          EXPECT_NEAR(all.gain(i, j, l), level.gain[i * d + j], 1e-9 * (1 + std::abs(level.gain[i * d + j])));
        }
      }
    }
  }
}

}  // namespace
}  // namespace catena::model::local_precondition_test

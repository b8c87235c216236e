// What a report says about single transitions, with a model whose density is exact (train/exact_density.h): for
// x' = 0.9 x + w + ε everything is Gaussian, so that contributions are known.

#include "catena/report/information.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catena/core/random.h"
#include "catena/report/findings.h"
#include "catena/report/summary.h"
#include "train/exact_density.h"

namespace catena::report::information_test {
namespace {

constexpr std::size_t n = 1000;  // draws, as many as a report looks at

/// z = μ + s w, θ = 1 + 2 z, where w is what the network sees.
prior::Around around() {
  prior::Prior base;
  for (const char* name : {"theta_1", "theta_2"}) base.add({name}, prior::normal(1, 2));
  return {base, prior::NormalMixture::one(Eigen::Vector2d(0.5, -1), Eigen::Matrix2d{{0.7, 0}, {0, 1.3}})};
}

/// Draws of the posterior under z ~ N(0, 1): T transitions with N(y_t; w, 1) have the precision 1 + T/s² and the mode
/// (T ȳ/s + T μ/s²)/(1 + T/s²).
Results results_of(const std::vector<Matrix>& all, const prior::Around& prior) {
  Results results;
  std::vector<double> sum(2, 0);
  std::size_t transitions = 0;
  for (const Matrix& series : all) {
    transitions += series.rows() - 1;
    for (std::size_t t = 0; t + 1 < series.rows(); ++t) {
      for (std::size_t i = 0; i < 2; ++i) sum[i] += series(t + 1, i) - 0.9 * series(t, i);
    }
    files::Series one{{"x_1", "x_2"}, series, {}};
    if (!results.observed) {
      results.observed = std::move(one);
    } else {
      results.more_series.push_back(std::move(one));
    }
  }
  DrawSet& posterior = results.posterior.emplace();
  posterior.parameters = prior.base.names();
  posterior.values = Matrix(n, 2);
  Stream stream = Streams(8).stream("draws");
  for (std::size_t i = 0; i < 2; ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const double s = prior.normals.components[0].lower(k, k), T = static_cast<double>(transitions),
                 precision = 1 + T / (s * s);
    const double mode = (sum[i] / s + T * prior.normals.components[0].mean[k] / (s * s)) / precision;
    for (std::size_t r = 0; r < n; ++r) {
      posterior.values(r, i) = 1 + 2 * (mode + stream.normal() / std::sqrt(precision));
    }
  }
  return results;
}

TEST(ReportInformation, OfAModelAroundAPosteriorIsThatUnderTheTruePrior) {
  constexpr std::size_t T = 12;
  const prior::Around prior = around();
  model::TrainedModel model = train::testing::exact_gaussian_rw(2);
  model.prior = prior.prior();
  Results results = results_of({train::testing::gaussian_rw_series(2, T, 4)}, prior);
  add_information(results, model, Parallel(1));
  ASSERT_TRUE(results.information && results.information->information) << results.information->trouble;
  EXPECT_EQ(results.information->parameters, prior.base.names());
  const evaluate::Information& found = *results.information->information;
  ASSERT_EQ(found.contribution.rows(), T);
  for (std::size_t i = 0; i < 2; ++i) {
    const double s = prior.normals.components[0].lower(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i));
    // c_t = Var(z)/s², and a variance of n draws has the relative error √(2/n): 4.5 of them in 26 checks, 2e-4.
    const double variance = 1 / (1 + T / (s * s)), error = 4.5 * std::sqrt(2.0 / n);
    for (std::size_t t = 0; t < T; ++t) {
      EXPECT_NEAR(found.contribution(t, i), variance / (s * s), error * variance / (s * s)) << t;
    }
    EXPECT_NEAR(found.removed[i], 1 - variance, error * variance);
    EXPECT_NEAR(found.total(i), found.removed[i], 4.5 * found.error[i]);
  }
}

TEST(ReportInformation, CountsAllSeriesOfTheDrawsAndSaysThatOneIsShown) {
  const prior::Around standard{prior::Prior::standard({"theta_1", "theta_2"}),
                               prior::NormalMixture::one(Eigen::Vector2d::Zero(), Eigen::Matrix2d::Identity())};
  model::TrainedModel model = train::testing::exact_gaussian_rw(2);
  model.prior = standard.base;
  Results results =
      results_of({train::testing::gaussian_rw_series(2, 5, 4), train::testing::gaussian_rw_series(2, 20, 4)}, standard);
  for (double& value : results.posterior->values.values()) value = 0.5 * (value - 1);  // θ = z here
  add_information(results, model, Parallel(1));
  ASSERT_TRUE(results.information && results.information->information) << results.information->trouble;
  const evaluate::Information& found = *results.information->information;
  EXPECT_EQ(found.contribution.rows(), 25U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(found.total(i), found.removed[i], 4.5 * found.error[i]);
  bool said = false;
  for (const Finding& finding : findings(results, summarise(results, Streams(1), Parallel(1)), Streams(1))) {
    said = said || finding.text.find("2 series") != std::string::npos;
    EXPECT_EQ(finding.text.find("do not fit together"), std::string::npos) << finding.text;
  }
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace catena::report::information_test

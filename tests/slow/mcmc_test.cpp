// Markov-chain kernels on the targets that take long: 50 dimensions, the funnel, modes in 12 dimensions. Each check is
// of 5 standard errors (6e-7); some 2,000 of them make a false alarm in 1e-3.

#include <gtest/gtest.h>

#include "sample/mcmc_targets.h"

namespace catena::sample::mcmc_test {

void expect_exact(const KnownTarget& known, const std::string& kernel, int chains, const std::string& expected_kernel,
                  McmcSettings settings = {}) {
  settings.kernel = kernel;
  settings.chains = chains;
  const PointTarget target(known.dimension, known.density, Parallel());
  const McmcDraws result = mcmc_sample(target, 1000, settings, Streams(1), Parallel());
  ASSERT_EQ(result.info.outcome, Outcome::ok);
  EXPECT_EQ(result.info.kernel, expected_kernel);
  for (const QuantileError& error : quantile_errors(known, result.traces)) {
    EXPECT_LT(std::abs(error.errors), 5) << error.margin << ": share " << error.share << " at " << error.q;
  }
}

class EveryKernelAtLength : public ::testing::TestWithParam<std::string> {
 protected:
  const KernelEntry& entry() const { return kernels().at("test", GetParam()); }
};

TEST_P(EveryKernelAtLength, SamplesACorrelatedGaussianInFiftyDimensions) {
  if (entry().most_dimensions < 50) GTEST_SKIP() << "not for so many dimensions";
  McmcSettings settings;
  settings.most_steps = 1'000'000;  // random walks need them: 0.3/d effective draws a step
  expect_exact(correlated_gaussian(50, 0.5), GetParam(), 16, GetParam(), settings);
}

TEST_P(EveryKernelAtLength, SamplesNealsFunnel) {
  if (!entry().handles_funnel) GTEST_SKIP() << "not expected to follow the funnel into its neck";
  expect_exact(funnel(), GetParam(), 20, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernelAtLength, ::testing::ValuesIn(kernels().names()),
                         [](const auto& kernel) { return kernel.param; });

/// With the default start of 400 points and 3 moves the population ends with 0.93 to 0.99 or 0.01 of its points in the
/// mode of weight 0.7 (five seeds), so that chains may all begin in one mode; with 2,000 and 10 it is 0.71 to 0.88.
TEST(McmcAuto, GivesModesInTwelveDimensionsTheirWeights) {
  McmcSettings settings;
  settings.population = 2000;
  settings.moves = 10;
  expect_exact(two_modes(12), "auto", 40, "tempering", settings);
}

}  // namespace catena::sample::mcmc_test

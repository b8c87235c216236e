// The registry is the test plan: every kernel on targets whose quantiles are known.
//
// A share of draws at or below an exact quantile may be 5 Monte Carlo standard errors off: 6e-7 a check if the error is
// normal, and 1e-3 for the 1,700 or so checks of this file. Seeds are fixed.

#include <gtest/gtest.h>

#include "sample/mcmc_targets.h"

namespace catena::sample::mcmc_kernels_test {

void expect_exact_quantiles(const KnownTarget& known, const std::string& kernel, int chains) {
  McmcSettings settings;
  settings.kernel = kernel;
  settings.chains = chains;
  const PointTarget target(known.dimension, known.density);
  const McmcDraws result = mcmc_sample(target, 1000, settings, Streams(1), Parallel(1));
  ASSERT_EQ(result.info.outcome, Outcome::ok) << known.name;
  EXPECT_EQ(result.z.rows(), 1000U);
  for (const QuantileError& error : quantile_errors(known, result.traces)) {
    EXPECT_LT(std::abs(error.errors), 5) << known.name << " " << error.margin << ": share " << error.share << " at "
                                         << error.q;
  }
}

class EveryKernel : public ::testing::TestWithParam<std::string> {
 protected:
  const KernelEntry& entry() const { return kernels().at("test", GetParam()); }
};

TEST_P(EveryKernel, SamplesACorrelatedGaussianInTwoDimensions) {
  expect_exact_quantiles(correlated_gaussian(2, 0.95), GetParam(), 40);
}

TEST_P(EveryKernel, SamplesACorrelatedGaussianInTenDimensions) {
  if (entry().most_dimensions < 10) GTEST_SKIP() << "not for so many dimensions";
  expect_exact_quantiles(correlated_gaussian(10, 0.7), GetParam(), 24);
}

TEST_P(EveryKernel, SamplesASkewedTarget) { expect_exact_quantiles(log_gammas(), GetParam(), 40); }

TEST_P(EveryKernel, GivesSeparatedModesTheirWeights) {
  if (!entry().crosses_modes) GTEST_SKIP() << "not expected to cross between modes";
  expect_exact_quantiles(two_modes(2), GetParam(), 40);
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel, ::testing::ValuesIn(kernels().names()),
                         [](const auto& kernel) { return kernel.param; });

/// Chains that begin at exact draws are exact draws after any number of steps of a kernel that keeps its target. There
/// are 4,000 of them, all independent still, and 15 binomial checks at 5 standard errors: a false alarm in 1e-5.
TEST_P(EveryKernel, KeepsExactDrawsExact) {
  const KnownTarget known = log_gammas();
  const PointTarget point_target(known.dimension, known.density);
  const CountedTarget target(point_target);
  constexpr std::size_t n = 4000;
  const Streams streams(2);
  // A crude start teaches the kernel a metric that does not fit, so that it has to reject now and then.
  const Start start = temper_start(target, 64, 1, streams, silent_progress());
  nlohmann::json settings = nlohmann::json::object();
  if (GetParam() == "nuts") settings["tree_depth"] = 4;
  if (GetParam() == "tempering") settings["tempered_kernel"] = "random_walk";
  const auto kernel = entry().make({.dimension = known.dimension,
                                    .chains = n,
                                    .settings = settings,
                                    .start = &start,
                                    .streams = streams.child("kernel")});
  Chains chains{Matrix(n, known.dimension), {}, {}, {}};
  for (std::size_t c = 0; c < n; ++c) {
    chains.streams.push_back(streams.stream("chain", c));
    known.draw(chains.streams[c], chains.z.row(c));
  }
  kernel->learn(start.points.back());
  kernel->init(target, chains);
  const Matrix before = chains.z;
  double acceptance = 0;
  for (int step = 0; step < 6; ++step) acceptance += kernel->step(target, chains).acceptance / 6;
  EXPECT_LT(acceptance, 0.99);  // otherwise there was nothing to see
  std::size_t moved = 0;
  for (std::size_t c = 0; c < n; ++c) moved += chains.z(c, 0) != before(c, 0);
  EXPECT_GT(moved, n / 2);
  // The densities that the chains carry are those of their points.
  std::vector<double> densities(n);
  target.log_density(chains.z, densities);
  for (std::size_t c = 0; c < n; ++c) ASSERT_NEAR(chains.log_density[c], densities[c], 1e-9);
  if (GetParam() == "tempering") return;  // its hotter rungs begin at the crude start, not at exact draws
  for (std::size_t i = 0; i < known.dimension; ++i) {
    for (const double q : {0.05, 0.25, 0.5, 0.75, 0.95}) {
      const double bound = known.margins[i].quantile(q);
      double share = 0;
      for (std::size_t c = 0; c < n; ++c) share += chains.z(c, i) <= bound ? 1.0 / n : 0;
      EXPECT_NEAR(share, q, 5 * std::sqrt(q * (1 - q) / n)) << "parameter " << i;
    }
  }
}

}  // namespace catena::sample::mcmc_kernels_test

#include "catena/sample/mcmc/chains.h"

#include <gtest/gtest.h>

#include <limits>

#include "catena/core/errors.h"
#include "catena/sample/mcmc/start/resampling.h"
#include "sample/mcmc_targets.h"

namespace catena::sample::mcmc_chains_test {

McmcDraws sample_known(const KnownTarget& known, std::size_t draws, const McmcSettings& settings, int threads = 1) {
  const PointTarget target(known.dimension, known.density, Parallel(threads));
  return mcmc_sample(target, draws, settings, Streams(5), Parallel(threads));
}

/// Chain c has the draws 100 c, 100 c + 1, ….
Traces counted(std::size_t chains, std::size_t draws) {
  Traces traces{Matrix(chains, draws)};
  for (std::size_t c = 0; c < chains; ++c) {
    for (std::size_t k = 0; k < draws; ++k) traces[0](c, k) = 100.0 * static_cast<double>(c) + static_cast<double>(k);
  }
  return traces;
}

TEST(ThinByChain, GivesAsManyChainsAsDivideTheNumberOfDraws) {
  const ChainDraws all = thin_by_chain(counted(4, 10), 20);
  EXPECT_EQ(all.chains, 4U);
  for (std::size_t k = 0; k < 20; ++k) {
    EXPECT_EQ(all.z(k, 0), 100.0 * std::floor(static_cast<double>(k) / 5) + static_cast<double>(2 * (k % 5) + 1)) << k;
  }
  const ChainDraws some = thin_by_chain(counted(32, 10), 100);
  EXPECT_EQ(some.chains, 10U);
  EXPECT_EQ(some.z(99, 0), 2809);  // spread over all chains: the last is number 9 · 32/10 = 28
  EXPECT_EQ(thin_by_chain(counted(32, 40), 1000).chains, 25U);
  const ChainDraws prime = thin_by_chain(counted(32, 10), 101);
  EXPECT_EQ(prime.chains, 1U);
  EXPECT_EQ(prime.z, thin(counted(32, 10), 101));
  EXPECT_EQ(thin_by_chain(counted(32, 10), 6).chains, 1U);  // chains of three draws tell nothing
  EXPECT_EQ(thin_by_chain(counted(1, 10), 8).chains, 1U);
}

class EveryKernelAndAuto : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernelAndAuto, ::testing::ValuesIn(kernel_choices()),
                         [](const auto& kernel) { return kernel.param; });

TEST_P(EveryKernelAndAuto, GivesTheSameDrawsForAnyNumberOfThreads) {
  McmcSettings settings;
  settings.kernel = GetParam();
  settings.chains = 20;
  settings.warm_up = 20;
  settings.most_steps = 60;
  const McmcDraws one = sample_known(log_gammas(), 100, settings, 1);
  ASSERT_EQ(one.z.rows(), 100U);
  for (const int threads : {2, 5}) EXPECT_EQ(sample_known(log_gammas(), 100, settings, threads).z, one.z) << threads;
}

/// What the sampler finds by itself can be given to it, with the same draws.
TEST(McmcSample, TakesAGivenStartAndAGivenKernel) {
  McmcSettings settings;
  settings.kernel = "cloud";
  const KnownTarget known = log_gammas();
  const PointTarget target(known.dimension, known.density);
  const McmcDraws found = mcmc_sample(target, 100, settings, Streams(5), Parallel(1));
  constexpr std::size_t population = 400;  // the default in few dimensions
  Start start = temper_start(target, population, settings.moves, Streams(5).child("start"), silent_progress());
  settings.kernel = "auto";  // does not count
  const McmcDraws given =
      mcmc_sample(target, {std::move(start), kernels().at("test", "cloud")}, 100, settings, Streams(5), Parallel(1));
  EXPECT_EQ(given.z, found.z);
  EXPECT_EQ(given.info.kernel, "cloud");
  EXPECT_EQ(given.info.temperatures, found.info.temperatures);
}

/// A target that is NaN on one side: a half-normal in the first coordinate, with P(|n| ≤ 0.6745) = 0.5.
TEST_P(EveryKernelAndAuto, TreatsNaNAsImpossible) {
  McmcSettings settings;
  settings.kernel = GetParam();
  settings.chains = 40;
  const PointTarget target(2, [](std::span<const double> z, std::span<double> gradient) {
    for (std::size_t i = 0; i < 2; ++i) gradient[i] = -z[i];
    return z[0] < 0 ? std::numeric_limits<double>::quiet_NaN() : log_prior(z);
  });
  const McmcDraws result = mcmc_sample(target, 500, settings, Streams(6), Parallel(1));
  EXPECT_EQ(result.info.outcome, Outcome::ok);
  EXPECT_GT(result.info.not_finite, 0U);
  for (std::size_t i = 0; i < result.z.rows(); ++i) ASSERT_GE(result.z(i, 0), 0);
  Matrix below(result.traces[0].rows(), result.traces[0].cols());
  double share = 0;
  for (std::size_t i = 0; i < below.values().size(); ++i) {
    below.values()[i] = result.traces[0].values()[i] <= 0.674489750196082 ? 1 : 0;
    share += below.values()[i] / static_cast<double>(below.values().size());
  }
  EXPECT_NEAR(share, 0.5, 5 * 0.5 / std::sqrt(bulk_ess(below)));  // false alarm: 6e-7
}

TEST_P(EveryKernelAndAuto, SaysSoWhereNoPointOfThePriorIsPossible) {
  McmcSettings settings;
  settings.kernel = GetParam();
  const PointTarget target(2, [](std::span<const double>, std::span<double>) { return std::nan(""); });
  const McmcDraws result = mcmc_sample(target, 10, settings, Streams(7), Parallel(1));
  EXPECT_EQ(result.info.outcome, Outcome::diverged);
  EXPECT_EQ(result.z.rows(), 0U);
}

TEST_P(EveryKernelAndAuto, WorksWithOneChainOrRefusesIt) {
  McmcSettings settings;
  settings.kernel = GetParam();
  settings.chains = 1;
  settings.least_ess = 100;
  const KnownTarget known = correlated_gaussian(2, 0.5);
  const KernelEntry* entry = kernels().find(GetParam());
  if (entry != nullptr && entry->least_chains > 1) {
    EXPECT_THROW(sample_known(known, 100, settings), InputError);
    return;
  }
  const McmcDraws result = sample_known(known, 100, settings);
  EXPECT_EQ(result.info.outcome, Outcome::ok);
  for (const QuantileError& error : quantile_errors(known, result.traces)) {
    EXPECT_LT(std::abs(error.errors), 5) << error.margin << ": share " << error.share << " at " << error.q;
  }
}

/// 30 checks at 5 standard errors: a false alarm in 2e-5.
TEST(Mcmc, SamplesTwoThinRingsByDefault) {
  const KnownTarget known = two_rings(0.02);
  const McmcDraws result = sample_known(known, 1000, {});
  ASSERT_EQ(result.info.outcome, Outcome::ok);
  EXPECT_EQ(result.info.kernel, "cloud");
  for (const QuantileError& error : quantile_errors(known, result.traces)) {
    EXPECT_LT(std::abs(error.errors), 5) << error.margin << ": share " << error.share << " at " << error.q;
  }
}

TEST(Mcmc, SaysThatChainsStuckInModesDidNotMix) {
  McmcSettings settings;
  settings.kernel = "random_walk";
  settings.chains = 20;
  settings.most_steps = 500;
  const McmcDraws result = sample_known(two_modes(2), 100, settings);
  EXPECT_EQ(result.info.outcome, Outcome::not_mixed);
  EXPECT_GT(worst(result.info.health).r_hat, 1.1);
  EXPECT_EQ(result.z.rows(), 100U);
}

TEST(Mcmc, TurnsToTemperingWhereChainsAreStuck) {
  // Without gradient and with more dimensions than independent proposals can serve, auto begins with slices.
  const KnownTarget known = two_modes(11);
  const PointTarget target(known.dimension, [&](std::span<const double> z) {
    std::vector<double> gradient(z.size());
    return known.density(z, gradient);
  });
  McmcSettings settings;
  settings.chains = 10;
  settings.population = 100;
  settings.most_steps = 600;
  const McmcDraws result = mcmc_sample(target, 100, settings, Streams(8), Parallel(1));
  EXPECT_EQ(result.info.kernel, "tempering");
}

TEST(Mcmc, CountsWhatItAsksOfTheTarget) {
  McmcSettings settings;
  settings.chains = 10;
  for (const char* kernel : {"random_walk", "hmc"}) {
    settings.kernel = kernel;
    const McmcInfo info = sample_known(correlated_gaussian(2, 0.3), 100, settings).info;
    // The start: its population once, and `moves` times at each temperature.
    const std::uint64_t start = 400 * (1 + 3 * info.temperatures);
    if (info.kernel == "random_walk") {
      EXPECT_EQ(info.evaluations, start + 10 + 10 * info.steps);
      EXPECT_EQ(info.gradients, 0U);
    } else {
      EXPECT_EQ(info.evaluations, start + info.gradients);
      EXPECT_GE(info.gradients, 10 + 10 * info.steps);
    }
    EXPECT_EQ(info.not_finite, 0U);
  }
}

TEST(Mcmc, RefusesAKernelThatNeedsAGradientThatIsNotThere) {
  McmcSettings settings;
  settings.kernel = "nuts";
  const PointTarget target(1, [](std::span<const double> z) { return log_prior(z); });
  try {
    mcmc_sample(target, 10, settings, Streams(1), Parallel(1));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "sample: kernel is nuts, but must be one that needs no gradient, since the target has none");
  }
}

/// The weights of modes in the start: a share 0.7 of 1,000 points, whose ancestors among 1,000 prior draws are about
/// half as many after each of some five resamplings; 5 standard errors of 200 draws leave room for that.
TEST(Start, GivesModesTheirWeights) {
  const KnownTarget known = two_modes(2);
  const PointTarget point_target(known.dimension, known.density);
  const CountedTarget target(point_target);
  const Start start = temper_start(target, 1000, 3, Streams(9), silent_progress());
  ASSERT_EQ(start.outcome, Outcome::ok);
  EXPECT_EQ(start.betas.front(), 0);
  EXPECT_EQ(start.betas.back(), 1);
  EXPECT_EQ(start.points.size(), start.betas.size());
  double share = 0;
  for (std::size_t i = 0; i < 1000; ++i) share += start.points.back()(i, 0) > 0 ? 0.001 : 0;
  EXPECT_NEAR(share, 0.7, 5 * std::sqrt(0.7 * 0.3 / 200));
}

TEST(McmcSettings, AKernelsOwnSettingsReachItAlone) {
  const auto sentence = [](const nlohmann::json& json) -> std::string {
    try {
      McmcSettings settings = mcmc_settings_from(json);
      settings.chains = 8;
      settings.warm_up = 8;
      settings.most_steps = 8;
      sample_known(log_gammas(), 8, settings);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(sentence({{"kernel", "nuts"}, {"tree_depth", 3}}), "");
  EXPECT_EQ(sentence({{"tempered_kernel", "slice"}}), "");  // auto may come to it
  EXPECT_EQ(sentence({{"kernel", "slice"}, {"tree_depth", 5}}),
            "sample: tree_depth is 5, but is a setting of nuts, not of slice");
  EXPECT_EQ(sentence({{"tree_depth", 5}}), "sample: tree_depth is 5, but is a setting of nuts, not of auto");
  EXPECT_EQ(sentence({{"kernel", "nuts"}, {"tree_depth", 0}}), "sample: tree_depth is 0, but must be between 1 and 20");
  EXPECT_EQ(sentence({{"kernel", "nuts"}, {"tree_deep", 3}}).substr(0, 55),
            "sample: setting is \"tree_deep\", but must be one of kern");
  std::vector<std::string> names;
  for (const FieldInfo& field : mcmc_fields()) names.push_back(field.name);
  EXPECT_EQ(std::ranges::count(names, "tree_depth"), 1);
  EXPECT_EQ(mcmc_settings_json(mcmc_settings_from({{"kernel", "nuts"}, {"tree_depth", 3}})).at("tree_depth"), 3);
}

TEST(Population, ResamplesInProportionToWeights) {
  Stream stream = Streams(10).stream("resample");
  const std::vector<double> weights{0, 3, 1, 0, 4};
  std::vector<int> times(5, 0);
  for (int repeat = 0; repeat < 800; ++repeat) {
    for (const std::size_t i : resample(weights, stream)) ++times[i];
  }
  // 5 · 800 · w/8; systematic resampling is within one of the mean each time, so within 800 · ½/√800 · 5 = 71 in all.
  EXPECT_EQ(times[0], 0);
  EXPECT_NEAR(times[1], 1500, 71);
  EXPECT_NEAR(times[2], 500, 71);
  EXPECT_EQ(times[3], 0);
  EXPECT_NEAR(times[4], 2000, 71);
}

TEST(Population, StepsToWhereHalfIsEffective) {
  const std::vector<double> likelihoods{0, -1, -4, -9, -16, -std::numeric_limits<double>::infinity()};
  const double step = next_tempering_step(likelihoods, 1);
  EXPECT_NEAR(effective_size(tempering_weights(likelihoods, step)), 2.5, 1e-9);
  EXPECT_EQ(next_tempering_step(likelihoods, 0.01), 0.01);
}

}  // namespace catena::sample::mcmc_chains_test

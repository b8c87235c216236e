#include "catena/evaluate/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "catena/core/errors.h"
#include "catena/evaluate/ecdf_band.h"

namespace catena::evaluate::calibration_test {
namespace {

/// θ ~ N(0, 1) in each of two parameters, x = θ + N(0, 1), so that θ | x ~ N(x/2, 1/2); the draws' deviation is
/// multiplied by `width` and their mean moved by `shift`.
struct Conjugate {
  Conjugate(std::size_t series, std::size_t count, double width, double shift = 0)
      : draws(series * count, 2), truth(series, 2), density_of_draws(series, count), density_of_truth(series) {
    for (std::size_t s = 0; s < series; ++s) {
      Stream stream = Streams(17).stream("conjugate", s);
      for (std::size_t c = 0; c < 2; ++c) {
        truth(s, c) = stream.normal();
        const double mean = (truth(s, c) + stream.normal()) / 2 + shift;
        const double deviation = width * std::sqrt(0.5);
        const auto log_density = [&](double theta) { return -0.5 * std::pow((theta - mean) / deviation, 2); };
        for (std::size_t i = 0; i < count; ++i) {
          draws(s * count + i, c) = mean + deviation * stream.normal();
          density_of_draws(s, i) += log_density(draws(s * count + i, c));
        }
        density_of_truth[s] += log_density(truth(s, c));
      }
    }
  }
  Matrix draws, truth, density_of_draws;
  std::vector<double> density_of_truth;

  /// Four sets of ranks: both parameters, highest density, TARP.
  std::vector<Ranks> all_ranks(int threads = 2) const {
    std::vector<Ranks> ranks = sbc_ranks(draws, truth, Streams(1), Parallel(threads));
    ranks.push_back(density_ranks(density_of_draws, density_of_truth, Streams(1)));
    ranks.push_back(tarp_ranks(draws, truth, Streams(1), Parallel(threads)));
    return ranks;
  }
};

// Eight p-values, each below 1e-3 with that probability if all is right: a false alarm in 125 seeds; the seed is fixed.
TEST(Calibration, OfAnExactPosteriorPassesEveryTest) {
  for (const Ranks& ranks : Conjugate(400, 99, 1).all_ranks()) {
    const Uniformity result = uniformity(ranks, 0.999);
    EXPECT_GT(result.chi_squared_p_value, 1e-3);
    EXPECT_GT(result.band_p_value, 1e-3);
    EXPECT_TRUE(result.inside);
    EXPECT_EQ(result.bins, 20U);
  }
}

TEST(Calibration, OfATooNarrowPosteriorFailsEveryTest) {
  const std::vector<Ranks> all = Conjugate(400, 99, 0.6).all_ranks();
  for (const Ranks& ranks : all) {
    const Uniformity result = uniformity(ranks, 0.999);
    EXPECT_LT(result.chi_squared_p_value, 1e-6);
    EXPECT_LT(result.band_p_value, 1e-6);
    EXPECT_FALSE(result.inside);
  }
  const std::vector<double> levels = usual_credibilities();
  EXPECT_LT(expected_coverage(all[0], Interval::central, levels, Streams(1)).mean_excess, -0.1);
  EXPECT_LT(expected_coverage(all[2], Interval::from_below, levels, Streams(1)).mean_excess, -0.1);
}

TEST(Calibration, OfAShiftedPosteriorFailsSbcAndTarp) {
  const Conjugate shifted(400, 99, 1, 0.5);
  EXPECT_LT(uniformity(sbc_ranks(shifted.draws, shifted.truth, Streams(1), Parallel(1))[0]).band_p_value, 1e-6);
  EXPECT_LT(uniformity(tarp_ranks(shifted.draws, shifted.truth, Streams(1), Parallel(1))).band_p_value, 1e-3);
}

TEST(Calibration, CoverageOfAnExactPosteriorLiesOnTheDiagonal) {
  // Each share has a deviation of at most √(1/4/2000) = 0.0112; 0.055 is 4.9 of them, and 76 checks give 8e-5.
  const std::vector<Ranks> all = Conjugate(2000, 49, 1).all_ranks();
  const std::vector<double> levels = usual_credibilities();
  ASSERT_EQ(levels.size(), 19U);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Coverage coverage =
        expected_coverage(all[k], k < 2 ? Interval::central : Interval::from_below, levels, Streams(1));
    for (std::size_t i = 0; i < levels.size(); ++i) EXPECT_NEAR(coverage.expected[i], levels[i], 0.055);
    EXPECT_NEAR(coverage.mean_excess, 0, 0.055);
  }
}

TEST(Calibration, RanksAreTheSameForAnyNumberOfThreads) {
  const Conjugate exact(50, 20, 1);
  const std::vector<Ranks> on_one = exact.all_ranks(1);
  for (const int threads : {2, 5}) {
    const std::vector<Ranks> on_more = exact.all_ranks(threads);
    for (std::size_t k = 0; k < on_one.size(); ++k) EXPECT_EQ(on_one[k].values, on_more[k].values);
  }
}

TEST(Calibration, BreaksTiesEvenly) {
  // All draws equal the truth: every rank 0 … 9 is as likely. χ² over ten bins with p above 1e-4, seed fixed.
  const Matrix draws(18'000, 1), truth(2000, 1);
  const Ranks ranks = sbc_ranks(draws, truth, Streams(3), Parallel(1))[0];
  EXPECT_EQ(ranks.draws, 9U);
  EXPECT_GT(uniformity(ranks).chi_squared_p_value, 1e-4);
}

TEST(Calibration, ChiSquaredMatchesHandComputation) {
  // Ten series, one draw: ranks 0 and 1, two bins that expect 5 each; 8 and 2 give χ² = 9/5 + 9/5, p = erfc(√(3.6/2)).
  const Ranks ranks{1, {0, 0, 0, 0, 0, 0, 0, 0, 1, 1}};
  const Uniformity result = uniformity(ranks);
  EXPECT_EQ(result.bins, 2U);
  EXPECT_DOUBLE_EQ(result.chi_squared, 3.6);
  EXPECT_NEAR(result.chi_squared_p_value, std::erfc(std::sqrt(1.8)), 1e-14);
  // One cut: the band's p-value is the binomial one, 2 P(X ≥ 8 of 10) = 2·56/1024.
  EXPECT_NEAR(result.band_p_value, 2 * 56.0 / 1024, 1e-12);
}

TEST(Bands, CoverWhatTheyPromise) {
  // 4,000 sets of 60 uniform ranks: the share inside the 90 % band has a deviation of 0.0047, and 4.5 of them are 0.021
  // (false alarm 7e-6). The band covers 0.9 or, because counts are whole, slightly more; the recursion knows how much.
  const RankCounts counts(60, 99);
  const RankCounts::Region band = counts.region(counts.gamma_of_level(0.9));
  const double promised = counts.coverage(band);
  EXPECT_GE(promised, 0.9);
  EXPECT_LT(promised, 0.92);
  int inside = 0;
  for (std::size_t run = 0; run < 4000; ++run) {
    Stream stream = Streams(2).stream("ranks", run);
    std::vector<std::size_t> below(counts.cuts().size());
    for (int s = 0; s < 60; ++s) {
      const std::size_t rank = stream.integer(100);
      for (std::size_t i = 0; i < below.size(); ++i) below[i] += rank < counts.cuts()[i] ? 1 : 0;
    }
    bool all = true;
    for (std::size_t i = 0; i < below.size(); ++i) {
      all = all && below[i] >= band.lowest[i] && below[i] <= band.highest[i];
    }
    inside += all ? 1 : 0;
  }
  EXPECT_NEAR(inside / 4000.0, promised, 0.021);
}

TEST(Bands, OfTheWholeRangeCoverSurely) {
  const RankCounts counts(30, 10);
  EXPECT_EQ(counts.cuts().size(), 10U);
  EXPECT_NEAR(counts.coverage(counts.region(0)), 1, 1e-12);
  EXPECT_EQ(counts.coverage(counts.region(1)), 0);
}

template <class Call>
std::string sentence_of(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Calibration, RefusesWhatItCannotUseInOneSentence) {
  const Parallel one(1);
  EXPECT_EQ(sentence_of([&] { sbc_ranks(Matrix(10, 2), Matrix(3, 2), Streams(1), one); }),
            "sbc_ranks: the number of draws is 10, but must be a multiple of the 3 series");
  EXPECT_EQ(sentence_of([&] { tarp_ranks(Matrix(10, 1), Matrix(5, 2), Streams(1), one); }),
            "tarp_ranks: the number of parameters in draws is 1, but must be 2, as in truth");
  Matrix with_nan(10, 2);
  with_nan(3, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sentence_of([&] { sbc_ranks(with_nan, Matrix(5, 2), Streams(1), one); }),
            "sbc_ranks: draws[3, 1] is nan, but must be finite");
  EXPECT_EQ(sentence_of([&] { uniformity(Ranks{3, {0, 1, 2}}); }),
            "uniformity: the number of series is 3, but must be at least 5");
  EXPECT_EQ(sentence_of([&] { uniformity(Ranks{3, {0, 1, 2, 3, 4}}); }),
            "uniformity: rank[4] is 4, but must be between 0 and 3");
  EXPECT_EQ(sentence_of([&] { uniformity(Ranks{3, {0, 1, 2, 3, 3}}, 1); }),
            "uniformity: level is 1, but must be between 0 and 1");
  EXPECT_EQ(sentence_of([&] { density_ranks(Matrix(3, 4), std::vector<double>(2), Streams(1)); }),
            "density_ranks: the number of series in log_density_of_draws is 3, but must be 2");
}

}  // namespace
}  // namespace catena::evaluate::calibration_test

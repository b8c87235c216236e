// Sliced Wasserstein, MMD, moments and the registry that lists them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "catena/core/errors.h"
#include "catena/evaluate/metric.h"
#include "catena/evaluate/mmd.h"
#include "catena/evaluate/moments.h"
#include "catena/evaluate/wasserstein.h"
#include "evaluate/sample_pairs.h"

namespace catena::evaluate::distances_test {
namespace {

using testing::sample_pair;

Matrix normal_sample(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Matrix sample(rows, cols);
  Streams(seed).stream("sample").fill_normal(sample.values());
  return sample;
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

TEST(Wasserstein, OfShiftedSetsIsTheShift) {
  std::vector<double> a = {-3, 0, 1, 5}, b = a;
  for (double& x : b) x += 2.5;
  EXPECT_DOUBLE_EQ(wasserstein_1(a, b), 2.5);
  EXPECT_EQ(wasserstein_1(a, a), 0);
}

TEST(Wasserstein, OfSetsOfUnequalSizeMatchesTheAreaBetweenTheDistributions) {
  // Moving {0, 1} (1/2 each) onto {0, 1, 5} (1/3 each): 1/6 goes from 0 to 1, and 1/3 from 1 to 5.
  const std::vector<double> a = {0, 1}, b = {0, 1, 5};
  EXPECT_DOUBLE_EQ(wasserstein_1(a, b), 1.0 / 6 + 4.0 / 3);
  EXPECT_DOUBLE_EQ(wasserstein_1(b, a), 1.0 / 6 + 4.0 / 3);
  // A set against itself, every draw doubled, costs nothing.
  const std::vector<double> doubled = {0, 0, 1, 1, 5, 5};
  EXPECT_EQ(wasserstein_1(b, doubled), 0);
}

TEST(SlicedWasserstein, OfShiftedGaussiansIsTheShiftInOneDimension) {
  // N(0, 1) and N(3, 1): exactly 3; the sample's own mean difference has a deviation of √(2/10,000) = 0.014, and 0.06
  // is 4.2 of them (false alarm 3e-5).
  const Matrix a = normal_sample(10000, 1, 1);
  Matrix b = normal_sample(10000, 1, 2);
  for (double& x : b.values()) x += 3;
  EXPECT_NEAR(sliced_wasserstein(a, b, {.projections = 5}, Streams(1), Parallel(1)), 3, 0.06);
}

TEST(SlicedWasserstein, OfAShiftedSetIsTheMeanLengthOfTheProjectedShift) {
  // B = A + s: every projection costs |⟨s, direction⟩|, whose mean over the circle is (2/π)|s|. Over 1,000 directions
  // it has a deviation of 0.31 |s|/√1000; 4.5 of them are 0.22 for |s| = 5 (false alarm 7e-6).
  const Matrix a = normal_sample(50, 2, 1);
  Matrix b = a;
  for (std::size_t r = 0; r < 50; ++r) {
    b(r, 0) += 3;
    b(r, 1) -= 4;
  }
  EXPECT_NEAR(sliced_wasserstein(a, b, {}, Streams(1), Parallel(1)), 10 / std::numbers::pi, 0.22);
}

TEST(SlicedWasserstein, NormalisedDoesNotDependOnUnits) {
  auto [a, b] = sample_pair("shifted", 3, 200);
  const SlicedWasserstein normalised{.projections = 100, .normalised = true};
  const double before = sliced_wasserstein(a, b, normalised, Streams(1), Parallel(1));
  for (Matrix* sample : {&a, &b}) {
    for (std::size_t r = 0; r < 200; ++r) (*sample)(r, 1) *= 1024;  // a power of two: nothing is rounded
  }
  EXPECT_DOUBLE_EQ(sliced_wasserstein(a, b, normalised, Streams(1), Parallel(1)), before);
  const Matrix constant(10, 3);
  EXPECT_EQ(sentence_of([&] { sliced_wasserstein(a, constant, normalised, Streams(1), Parallel(1)); }),
            "sliced_wasserstein: the standard deviation of parameter 0 in B is 0, but must be positive and finite");
}

/// sbi's formula, pair by pair.
double slow_mmd_squared(const Matrix& a, const Matrix& b) {
  const auto distance = [](std::span<const double> x, std::span<const double> y) {
    double sum = 0;
    for (std::size_t c = 0; c < x.size(); ++c) sum += (x[c] - y[c]) * (x[c] - y[c]);
    return std::sqrt(sum);
  };
  std::vector<double> aa, ab, bb, all;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < i; ++j) aa.push_back(distance(a.row(i), a.row(j)));
    for (std::size_t j = 0; j < b.rows(); ++j) ab.push_back(distance(a.row(i), b.row(j)));
  }
  for (std::size_t i = 0; i < b.rows(); ++i) {
    for (std::size_t j = 0; j < i; ++j) bb.push_back(distance(b.row(i), b.row(j)));
  }
  for (const auto* some : {&aa, &ab, &bb}) all.insert(all.end(), some->begin(), some->end());
  std::sort(all.begin(), all.end());
  const double s = all[(all.size() - 1) / 2];
  EXPECT_DOUBLE_EQ(median_distance(a, b, Parallel(2)), s);
  const auto mean_kernel = [&](const std::vector<double>& distances) {
    double sum = 0;
    for (const double d : distances) sum += std::exp(-d * d / (2 * s * s));
    return sum / static_cast<double>(distances.size());
  };
  return mean_kernel(aa) + mean_kernel(bb) - 2 * mean_kernel(ab);
}

TEST(Mmd, MatchesItsDefinition) {
  for (const auto& [n, m] : {std::pair{2, 2}, {40, 41}, {70, 33}}) {
    const Matrix a = normal_sample(n, 3, 1);
    Matrix b = normal_sample(m, 3, 2);
    for (double& x : b.values()) x = 0.5 + 1.5 * x;
    EXPECT_NEAR(mmd_squared(a, b, Parallel(2)), slow_mmd_squared(a, b), 1e-13);
  }
}

TEST(Mmd, IsZeroInTheMeanIfTheDistributionsAreEqual) {
  double sum = 0, square = 0;
  constexpr std::uint64_t runs = 200;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const double mmd = mmd_squared(normal_sample(40, 2, 2 * run), normal_sample(40, 2, 2 * run + 1), Parallel(1));
    sum += mmd;
    square += mmd * mmd;
  }
  // |mean| within 4.5 of its own standard errors (false alarm 7e-6; the biased estimate would be off by 0.03, some 30).
  EXPECT_LT(std::abs(sum / runs), 4.5 * std::sqrt(square / runs / runs));
  EXPECT_LT(std::sqrt(square / runs), 0.02);
}

TEST(Mmd, OfOneRepeatedDrawIsZero) { EXPECT_EQ(mmd_squared(Matrix(5, 2), Matrix(6, 2), Parallel(1)), 0); }

TEST(Moments, DifferencesAreInDeviationsOfTheReference) {
  Matrix a(4, 2), b(4, 2);
  const double values[] = {-3, -1, 1, 3};  // deviation √(20/3)
  const double deviation = std::sqrt(20.0 / 3);
  for (std::size_t r = 0; r < 4; ++r) {
    b(r, 0) = values[r];
    a(r, 0) = 2 * values[r] + 5;
    b(r, 1) = 10 + values[r];
    a(r, 1) = 9 + values[3 - r];
  }
  const std::vector<double> difference = mean_difference(a, b), ratio = log_deviation_ratio(a, b);
  EXPECT_DOUBLE_EQ(difference[0], 5 / deviation);
  EXPECT_DOUBLE_EQ(difference[1], -1 / deviation);
  EXPECT_DOUBLE_EQ(ratio[0], std::log(2));
  EXPECT_NEAR(ratio[1], 0, 1e-15);
}

TEST(EveryMetric, IsTheSameForAnyNumberOfThreads) {
  const auto [a, b] = sample_pair("rescaled", 2, 150);
  for (const Metric& metric : metrics()) {
    const nlohmann::json on_one = metric.compute(a, b, Streams(9), Parallel(1));
    for (const int threads : {2, 5}) {
      EXPECT_EQ(metric.compute(a, b, Streams(9), Parallel(threads)), on_one) << metric.name;
    }
  }
}

TEST(EveryMetric, SeesAShiftOfTwoDeviationsAndNoneBetweenEqualSets) {
  // Sizes of effects: a shift by two deviations in each of two parameters against two samples of one distribution.
  const Matrix a = normal_sample(400, 2, 1);
  const Matrix equal = normal_sample(400, 2, 2);
  Matrix shifted = equal;
  for (double& x : shifted.values()) x = 2 * (x + 2);
  for (const Metric& metric : metrics()) {
    const auto size = [&](const Matrix& b) {
      const nlohmann::json value = metric.compute(a, b, Streams(3), Parallel(2));
      const double number = value.is_array() ? value.at(0).get<double>() : value.get<double>();
      return std::abs(number - (metric.name.starts_with("c2st") ? 0.5 : 0.0));
    };
    EXPECT_GT(size(shifted), 3 * size(equal)) << metric.name;
  }
}

TEST(EveryMetric, RefusesSamplesItCannotUseInOneSentence) {
  Matrix with_nan(30, 2);
  with_nan(4, 0) = std::numeric_limits<double>::infinity();
  for (const Metric& metric : metrics()) {
    const auto sentence = [&](const Matrix& a, const Matrix& b) {
      return sentence_of([&] { metric.compute(a, b, Streams(1), Parallel(1)); });
    };
    const Matrix good = normal_sample(30, 2, 1);
    EXPECT_NE(sentence(with_nan, good).find("A[4, 0] is inf, but must be finite"), std::string::npos) << metric.name;
    EXPECT_NE(
        sentence(good, normal_sample(30, 1, 1)).find("the number of parameters in B is 1, but must be 2, as in A"),
        std::string::npos)
        << metric.name;
    EXPECT_NE(sentence(good, normal_sample(1, 2, 1)).find("the number of draws in B is 1, but must be at least"),
              std::string::npos)
        << metric.name;
  }
}

}  // namespace
}  // namespace catena::evaluate::distances_test

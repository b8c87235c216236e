// Generators are tested by chi-squared over equiprobable bins and streams for independence. Each statistic is compared
// with the 1 − 1e-5 quantile of its distribution; there are 26 of them below, so that the seeds had a chance of 2.6e-4
// to fail.

#include "catena/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "catena/core/errors.h"

namespace catena::random_test {

namespace {

constexpr double z = 4.265;  // the 1 − 1e-5 quantile of N(0, 1)

/// The 1 − 1e-5 quantile of chi-squared by Wilson and Hilferty (1931), good to 1 % for 10 or more degrees of freedom.
double chi_squared_bound(double degrees) {
  const double c = 2 / (9 * degrees);
  return degrees * std::pow(1 - c + z * std::sqrt(c), 3);
}

/// Chi-squared of values whose distribution function is `cdf`, over `bins` equiprobable bins.
template <class Values, class Cdf>
double chi_squared(const Values& values, std::size_t bins, const Cdf& cdf) {
  std::vector<double> counts(bins, 0.0);
  for (const auto v : values) {
    const double u = cdf(static_cast<double>(v));
    counts[std::min(bins - 1, static_cast<std::size_t>(u * static_cast<double>(bins)))] += 1;
  }
  const double expected = static_cast<double>(std::size(values)) / static_cast<double>(bins);
  double sum = 0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum / static_cast<double>(x.size());
}

constexpr std::size_t many = 200'000;
constexpr std::size_t bins = 200;

std::vector<double> normals(Stream stream, std::size_t n = many) {
  std::vector<double> values(n);
  stream.fill_normal(values);
  return values;
}

}  // namespace

TEST(Random, VectorFillEqualsTheScalarTwin) {
  for (const std::size_t n : {1, 2, 3, 7, 8, 255, 256, 257, 1000}) {
    Stream fast = Streams(5).stream("twin", n);
    Stream slow = fast;
    std::vector<double> values(n);
    fast.fill_uniform(values);
    for (const double v : values) EXPECT_EQ(v, slow.uniform());
    Stream fast2 = Streams(6).stream("twin", n), slow2 = fast2;
    fast2.fill_normal(values);
    for (const double v : values) EXPECT_NEAR(v, slow2.normal(), 4e-15 * (1 + std::abs(v)));
  }
}

TEST(Random, DrawsDependOnSeedNameAndIndicesOnly) {
  const Streams root(7);
  EXPECT_EQ(root.stream("a", 1, 2).bits(), Streams(7).stream("a", 1, 2).bits());
  std::set<std::uint64_t> first;
  first.insert(root.stream("a").bits());
  first.insert(root.stream("a", 0).bits());  // no index and index 0 differ only in their hash
  first.insert(root.stream("a", 1).bits());
  first.insert(root.stream("a", 1, 2).bits());
  first.insert(root.stream("a", 2, 1).bits());
  first.insert(root.stream("b", 1).bits());
  first.insert(Streams(8).stream("a", 1).bits());
  first.insert(root.child("a").stream("a").bits());
  EXPECT_GE(first.size(), 7U);
}

TEST(Random, UniformsFillEquiprobableBins) {
  const auto identity = [](double u) { return u; };
  std::vector<double> doubles(many);
  Streams(1).stream("uniform").fill_uniform(doubles);
  EXPECT_LT(chi_squared(doubles, bins, identity), chi_squared_bound(bins - 1));
  std::vector<float> floats(many);
  Streams(2).stream("uniform").fill_uniform(floats);
  EXPECT_LT(chi_squared(floats, bins, identity), chi_squared_bound(bins - 1));
  // The low bits too: what lies behind the eighth binary place.
  for (double& u : doubles) u = u * 256 - std::floor(u * 256);
  EXPECT_LT(chi_squared(doubles, bins, identity), chi_squared_bound(bins - 1));
  EXPECT_GT(*std::ranges::min_element(floats), 0);
  EXPECT_LT(*std::ranges::max_element(floats), 1);
}

TEST(Random, NormalsFillEquiprobableBinsAndTheirTails) {
  const std::vector<double> doubles = normals(Streams(3).stream("normal"));
  EXPECT_LT(chi_squared(doubles, bins, normal_cdf), chi_squared_bound(bins - 1));
  std::vector<float> floats(many);
  Streams(4).stream("normal").fill_normal(floats);
  EXPECT_LT(chi_squared(floats, bins, normal_cdf), chi_squared_bound(bins - 1));
  std::vector<double> singles;
  Stream stream = Streams(5).stream("normal");
  for (std::size_t i = 0; i < many; ++i) singles.push_back(stream.normal());
  EXPECT_LT(chi_squared(singles, bins, normal_cdf), chi_squared_bound(bins - 1));
  // Beyond ±4: 6.33e-5 of four million draws, counted within z deviations of a Poisson number.
  double beyond = 0;
  for (const double v : normals(Streams(6).stream("normal"), 4'000'000)) beyond += std::abs(v) > 4 ? 1 : 0;
  const double expected = 4e6 * 2 * normal_cdf(-4);
  EXPECT_NEAR(beyond, expected, z * std::sqrt(expected));
}

TEST(Random, NeighboursInAStreamAreIndependent) {
  const std::vector<double> x = normals(Streams(8).stream("normal"));
  for (const std::ptrdiff_t lag : {1, 2, 3, 4, 8}) {
    const std::vector<double> shifted(x.begin() + lag, x.end()), base(x.begin(), x.end() - lag);
    EXPECT_LT(std::abs(correlation(base, shifted)), z / std::sqrt(static_cast<double>(base.size()))) << "lag " << lag;
  }
  // Pairs of uniforms over 20 × 20 cells.
  std::vector<double> u(2 * many), cells(many);
  Streams(9).stream("uniform").fill_uniform(u);
  for (std::size_t i = 0; i < many; ++i) {
    cells[i] = (std::floor(u[2 * i] * 20) * 20 + std::floor(u[2 * i + 1] * 20) + 0.5) / 400;
  }
  EXPECT_LT(chi_squared(cells, 400, [](double v) { return v; }), chi_squared_bound(399));
}

TEST(Random, StreamsAreIndependentOfEachOther) {
  const Streams root(10);
  const std::vector<double> x = normals(root.stream("a", 0));
  const double bound = z / std::sqrt(static_cast<double>(many));
  EXPECT_LT(std::abs(correlation(x, normals(root.stream("a", 1)))), bound);
  EXPECT_LT(std::abs(correlation(x, normals(root.stream("b", 0)))), bound);
  EXPECT_LT(std::abs(correlation(x, normals(root.stream("a", 0, 1)))), bound);
  EXPECT_LT(std::abs(correlation(x, normals(Streams(11).stream("a", 0)))), bound);
  EXPECT_LT(std::abs(correlation(x, normals(root.child("a").stream("a", 0)))), bound);
  // The first draw of many streams is itself a good sample, for neighbouring indices and for neighbouring seeds.
  std::vector<double> by_index, by_seed;
  for (std::size_t i = 0; i < many; ++i) {
    by_index.push_back(root.stream("first", i).uniform());
    by_seed.push_back(Streams(i).stream("first").uniform());
  }
  EXPECT_LT(chi_squared(by_index, bins, [](double u) { return u; }), chi_squared_bound(bins - 1));
  EXPECT_LT(chi_squared(by_seed, bins, [](double u) { return u; }), chi_squared_bound(bins - 1));
}

TEST(Random, GammasFillEquiprobableBins) {
  // Shapes with a distribution function in closed form: ½ (χ²₁), 1 (exponential), 2 and 3 (Erlang).
  const auto erlang = [](int k) {
    return [k](double x) {
      double term = 1, sum = 1;
      for (int i = 1; i < k; ++i) sum += term *= x / i;
      return 1 - std::exp(-x) * sum;
    };
  };
  const auto draws = [](double shape, std::uint64_t seed) {
    Stream stream = Streams(seed).stream("gamma");
    std::vector<double> values;
    for (std::size_t i = 0; i < many; ++i) values.push_back(stream.gamma(shape));
    return values;
  };
  EXPECT_LT(chi_squared(draws(0.5, 12), bins, [](double x) { return std::erf(std::sqrt(x)); }),
            chi_squared_bound(bins - 1));
  EXPECT_LT(chi_squared(draws(1, 13), bins, erlang(1)), chi_squared_bound(bins - 1));
  EXPECT_LT(chi_squared(draws(2, 14), bins, erlang(2)), chi_squared_bound(bins - 1));
  EXPECT_LT(chi_squared(draws(3, 15), bins, erlang(3)), chi_squared_bound(bins - 1));
  EXPECT_THROW(Streams(1).stream("gamma").gamma(-1), InputError);
}

TEST(Random, IntegersPermutationsAndChoicesAreUniform) {
  Stream stream = Streams(16).stream("integer");
  std::vector<double> values;
  for (std::size_t i = 0; i < many; ++i) values.push_back((static_cast<double>(stream.integer(37)) + 0.5) / 37);
  EXPECT_LT(chi_squared(values, 37, [](double u) { return u; }), chi_squared_bound(36));
  EXPECT_THROW(stream.integer(0), InputError);

  // All 24 orders of four, and all 5 · 4 · 3 choices of three out of five.
  std::vector<double> orders, choices;
  for (std::size_t i = 0; i < many / 4; ++i) {
    const auto p = stream.permutation(4);
    std::size_t rank = 0;
    for (std::size_t a = 0; a < 4; ++a) {
      std::size_t smaller = 0;
      for (std::size_t b = a + 1; b < 4; ++b) smaller += p[b] < p[a] ? 1 : 0;
      rank = rank * (4 - a) + smaller;
    }
    orders.push_back((static_cast<double>(rank) + 0.5) / 24);
    const auto c = stream.choice(5, 3);
    EXPECT_EQ(std::set<std::size_t>(c.begin(), c.end()).size(), 3U);
    const std::size_t second = c[1] - (c[1] > c[0] ? 1 : 0);
    const std::size_t third = c[2] - (c[2] > c[0] ? 1 : 0) - (c[2] > c[1] ? 1 : 0);
    choices.push_back((static_cast<double>((c[0] * 4 + second) * 3 + third) + 0.5) / 60);
  }
  EXPECT_LT(chi_squared(orders, 24, [](double u) { return u; }), chi_squared_bound(23));
  EXPECT_LT(chi_squared(choices, 60, [](double u) { return u; }), chi_squared_bound(59));
  EXPECT_THROW(stream.choice(3, 4), InputError);
}

}  // namespace catena::random_test

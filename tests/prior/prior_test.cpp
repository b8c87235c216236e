#include "catena/prior/prior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "catena/core/errors.h"
#include "catena/prior/special.h"
#include "data_path.h"

namespace catena::prior::prior_test {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

struct Golden {
  std::string family;
  nlohmann::json settings;
  double z, theta, below_high, log_slope;
};

/// tests/data/simulate/quantiles.csv, made by make_quantiles.py beside it.
std::vector<Golden> goldens() {
  std::ifstream file(std::string(CATENA_TEST_DATA) + "/simulate/quantiles.csv");
  std::vector<Golden> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string family, settings, cell;
    std::getline(cells, family, ',');
    std::getline(cells, settings, ',');
    Golden row{family, nlohmann::json::object(), 0, 0, 0, 0};
    for (double* number : {&row.z, &row.theta, &row.below_high, &row.log_slope}) {
      std::getline(cells, cell, ',');
      *number = std::stod(cell);
    }
    std::istringstream pairs(settings);
    while (std::getline(pairs, cell, ';')) {
      const auto equals = cell.find('=');
      row.settings[cell.substr(0, equals)] = std::stod(cell.substr(equals + 1));
    }
    rows.push_back(row);
  }
  return rows;
}

FactorPtr factor_of(const Golden& row) { return prior_families().at("test", row.family).from_json(row.settings); }

double to_theta(const Factor& factor, double z) {
  double theta = 0;
  factor.to_theta({&z, 1}, {&theta, 1});
  return theta;
}

double to_z(const Factor& factor, double theta) {
  const std::string name = "theta";
  double z = 0;
  factor.to_z({&theta, 1}, {&z, 1}, {&name, 1});
  return z;
}

}  // namespace

TEST(Prior, QuantilesMatchTheStoredOnesInBothTails) {
  const auto rows = goldens();
  ASSERT_GT(rows.size(), 200U);
  for (const Golden& row : rows) {
    const FactorPtr factor = factor_of(row);
    const double theta = to_theta(*factor, row.z);
    const std::string where = row.family + " " + row.settings.dump() + " at z = " + std::to_string(row.z);
    // The tails are good to about 50 units in the last place (special.h says 1e-14). A relative error of the smaller
    // tail p is one of θ times its condition, (p/θ) dθ/dp = p/(θ φ(z)) dθ/dz: 20 for a gamma of shape 0.05, say.
    const double tail = normal_lower(-std::abs(row.z));
    const double condition = tail * std::exp(row.log_slope - normal_log_density(row.z));  // times θ
    EXPECT_NEAR(theta, row.theta, 50 * epsilon * (std::abs(row.theta) + condition)) << where;
  }
}

TEST(Prior, LogSlopesMatchTheStoredOnesInBothTails) {
  for (const Golden& row : goldens()) {
    const double slope = factor_of(row)->log_jacobian({&row.z, 1});
    // θ near a bound that is not 0 is rounded by ε|θ|; a density that is steep there (beta on its own scale is exempt,
    // as it works with the distance) feels it as |d log f/dθ| ε|θ|, at most 1e-11 for the rows of the table.
    EXPECT_NEAR(slope, row.log_slope, 2e-13 * (1 + std::abs(row.log_slope)))
        << row.family << " " << row.settings.dump() << " at z = " << row.z;
  }
}

TEST(Prior, TheWayBackFindsZAsWellAsThetaCanHoldIt) {
  for (const Golden& row : goldens()) {
    const FactorPtr factor = factor_of(row);
    const double theta = to_theta(*factor, row.z);
    // θ is a double: half a unit in its last place moves z by ε|θ|/2 · dz/dθ.
    const double tolerance =
        100 * epsilon * (1 + std::abs(row.z)) + 2 * epsilon * std::abs(theta) * std::exp(-row.log_slope);
    if (tolerance > 0.5) continue;  // a θ so near a bound that its last place is the whole tail
    EXPECT_NEAR(to_z(*factor, theta), row.z, tolerance)
        << row.family << " " << row.settings.dump() << " at z = " << row.z;
  }
}

TEST(Prior, AUniformOnZeroToOneKeepsBothTailsToTwelveDigitsAndMore) {
  const FactorPtr factor = uniform(0, 1);
  // Φ(−7.034483825301131) = 1e-12 (mpmath: 1.0000000000000017e-12 at this double).
  EXPECT_NEAR(to_theta(*factor, -7.034483825301131), 1e-12, 1e-26);
  EXPECT_NEAR(1 - to_theta(*factor, 7.034483825301131), 1e-12, 2 * epsilon);
  EXPECT_NEAR(to_z(*factor, 1e-12), -7.034483825301131, 1e-14);
}

TEST(Prior, ExtremeZStaysInsideTheSupport) {
  for (const FamilyEntry& family : prior_families()) {
    const FactorPtr factor = family.example();
    if (factor->size() != 1) continue;
    double last = -std::numeric_limits<double>::infinity();
    for (const double z : {-1000.0, -40.0, -37.0, -20.0, -8.3, 0.0, 8.3, 20.0, 37.0, 40.0, 1000.0}) {
      const double theta = to_theta(*factor, z);
      if (std::isinf(theta)) continue;  // log-normal, normal: the double's range ends before the map does
      EXPECT_GE(theta, last) << family.name << " at " << z;
      last = theta;
      EXPECT_TRUE(std::isfinite(factor->log_density({&theta, 1}))) << family.name << " at " << z;
      EXPECT_TRUE(std::isfinite(to_z(*factor, theta))) << family.name << " at " << z;
    }
  }
}

TEST(Prior, EveryFamilySlopeIsTheDerivativeOfItsMap) {
  for (const FamilyEntry& family : prior_families()) {
    const FactorPtr factor = family.example();
    if (factor->size() != 1) continue;
    for (const double z : {-4.0, -2.0, -0.5, 0.1, 0.7, 2.5, 4.0}) {  // not 0, where laplace has a kink
      const double h = 1e-4;  // central differences: error h²/6 · third derivative, about 1e-7 relative at |z| = 4
      const double slope = (to_theta(*factor, z + h) - to_theta(*factor, z - h)) / (2 * h);
      EXPECT_NEAR(std::exp(factor->log_jacobian({&z, 1})), slope, 1e-6 * slope + 1e-10) << family.name << " at " << z;
    }
  }
}

TEST(Prior, EveryFamilyDensityIsTheNormalDensityPushedThroughTheMap) {
  for (const FamilyEntry& family : prior_families()) {
    const FactorPtr factor = family.example();
    Stream stream = Streams(3).stream("density");
    std::vector<double> z(factor->size()), theta(factor->size());
    for (int i = 0; i < 50; ++i) {
      double expected = 0;
      for (double& value : z) {
        value = stream.normal();
        expected += normal_log_density(value);
      }
      factor->to_theta(z, theta);
      expected -= factor->log_jacobian(z);
      EXPECT_NEAR(factor->log_density(theta), expected, 1e-12 * (1 + std::abs(expected))) << family.name;
    }
  }
}

TEST(Prior, EveryFamilySurvivesJson) {
  Prior prior;
  for (const FamilyEntry& family : prior_families()) {
    const FactorPtr factor = family.example();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < factor->free().size(); ++i) {
      names.push_back(std::string(family.name) + std::to_string(i));
    }
    prior.add(names, factor);
  }
  const Prior copy = Prior::from_json("test", nlohmann::json::parse(prior.to_json().dump()));
  EXPECT_EQ(copy.names(), prior.names());
  EXPECT_EQ(copy.to_json(), prior.to_json());
  std::vector<double> z(prior.size()), first(prior.size()), second(prior.size()), back(prior.size());
  Stream stream = Streams(1).stream("json");
  for (int i = 0; i < 20; ++i) {
    for (double& value : z) value = stream.normal();
    prior.to_theta(z, first);
    copy.to_theta(z, second);
    EXPECT_EQ(first, second);
    prior.to_z(first, back);
    for (std::size_t j = 0; j < z.size(); ++j) EXPECT_NEAR(back[j], z[j], 1e-12) << prior.names()[j];
  }
}

TEST(Prior, BlocksGiveWhatSingleDrawsGive) {
  Prior prior;
  prior.add({"a"}, uniform(-2, 5));
  prior.add({"b", "c"}, correlated_normal({1, -2}, {{2, 0.6}, {0.6, 0.5}}));
  prior.add({"d"}, gamma(0.7, 3));
  StateLanes z(4, 37), theta(4, 37);
  Stream stream = Streams(9).stream("blocks");
  prior.sample(stream, z, theta);
  std::vector<double> one(4), mapped(4);
  for (std::size_t l = 0; l < 37; ++l) {
    for (std::size_t i = 0; i < 4; ++i) one[i] = z(i, l);
    prior.to_theta(one, mapped);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(mapped[i], theta(i, l), 1e-15 * std::abs(mapped[i]));
  }
}

TEST(Prior, DrawsOfEveryFamilyAreUniformUnderItsOwnMap) {
  // Chi-squared over 20 equiprobable cells of z = map⁻¹(θ), 4,000 draws. The 1 − 1e-6 quantile of χ²(19) is 63.7
  // (Wilson–Hilferty 63.9); 17 families of one parameter give a false-alarm rate of 2e-5 in all, for a fixed seed.
  for (const FamilyEntry& family : prior_families()) {
    const FactorPtr factor = family.example();
    if (factor->size() != 1) continue;
    StateLanes theta(1, 4000);
    Stream stream = Streams(17).stream(family.name);
    factor->sample_lanes(stream, theta);
    std::vector<int> cells(20);
    for (std::size_t l = 0; l < 4000; ++l) {
      ++cells[std::min<std::size_t>(19, static_cast<std::size_t>(20 * normal_lower(to_z(*factor, theta(0, l)))))];
    }
    double chi_squared = 0;
    for (const int count : cells) chi_squared += (count - 200.0) * (count - 200.0) / 200.0;
    EXPECT_LT(chi_squared, 64) << family.name;
  }
}

TEST(Prior, WhatIsKnownOrFollowsIsSeenAndNotInferred) {
  Prior prior;
  prior.add({"a"}, uniform(0, 1));
  prior.add({"known"}, fixed(2.5));
  prior.add({"p", "q", "r"}, dirichlet({2, 3, 1.5}));
  EXPECT_TRUE(prior.completes());
  EXPECT_EQ(prior.names(), (std::vector<std::string>{"a", "p", "q"}));
  EXPECT_EQ(prior.seen_names(), (std::vector<std::string>{"a", "known", "p", "q", "r"}));
  std::vector<double> seen(5);
  prior.complete(std::vector<double>{0.3, 0.5, 0.375}, seen);
  EXPECT_EQ(seen, (std::vector<double>{0.3, 2.5, 0.5, 0.375, 0.125}));
  // Γ(6.5)/(Γ(2) Γ(3) Γ(1.5)) 0.5 0.375² 0.125^0.5, by hand: Γ(6.5) = 287.88527781504, Γ(1.5) = 0.886226925452758.
  EXPECT_NEAR(prior.log_density(std::vector<double>{0.3, 0.5, 0.375}),
              std::log(287.88527781504 / (2 * 0.886226925452758) * 0.5 * 0.375 * 0.375 * std::sqrt(0.125)), 1e-12);
  EXPECT_EQ(prior.log_density(std::vector<double>{0.3, 0.5, 0.5}), -std::numeric_limits<double>::infinity());
  // Draws far out stay parts of a whole that their z can be found of.
  std::vector<double> theta(3), back(3);
  for (const double z : {-20.0, -3.0, 3.0, 20.0}) {
    prior.to_theta(std::vector<double>{z, z, z}, theta);
    EXPECT_TRUE(std::isfinite(prior.log_density(theta))) << z;
    prior.to_z(theta, back);
    for (const double value : back) EXPECT_TRUE(std::isfinite(value)) << z;
  }
}

TEST(Prior, ATruncatedFamilyIsItsBaseBetweenTheBoundsAndNotOutside) {
  const FactorPtr base = student_t(4, 1, 2), cut = truncated(base, -0.5, 6);
  const auto at = [](const Factor& factor, double theta) { return factor.log_density({&theta, 1}); };
  const double log_mass = at(*base, 1) - at(*cut, 1);
  EXPECT_NEAR(std::exp(log_mass), normal_lower(to_z(*base, 6)) - normal_lower(to_z(*base, -0.5)), 1e-14);
  EXPECT_NEAR(at(*base, 5.5) - at(*cut, 5.5), log_mass, 1e-13);
  for (const double outside : {-0.6, 6.1}) EXPECT_EQ(at(*cut, outside), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(truncated(half_cauchy(1), -3, 2)->to_json().dump(),
            R"({"base":{"family":"half_cauchy","scale":1.0},"family":"truncated","high":2.0})");
  EXPECT_THROW(truncated(half_cauchy(1), -3, 0), InputError);
  EXPECT_THROW(truncated(standard_normal(2), 0, 1), InputError);
}

TEST(Prior, MisuseIsOneSentence) {
  const auto message = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([] { uniform(3, 1); }), "prior: high is 1, but must be above low, which is 3");
  EXPECT_EQ(message([] { gamma(-1, 1); }), "prior: shape is -1, but must be between 0.001 and 1000000");
  EXPECT_EQ(message([] { correlated_normal({0, 0}, {{1, 2}, {2, 1}}); }),
            "prior: covariance is not positive definite, but must be positive definite");
  EXPECT_EQ(message([] {
              Prior::from_json("simulate", {{"factors", {{{"family", "zeta"}, {"names", {"a"}}}}}});
            }).substr(0, 59),
            "simulate: prior family is \"zeta\", but must be one of normal");
  EXPECT_EQ(message([] {
              Prior::from_json(
                  "simulate",
                  {{"factors", {{{"family", "uniform"}, {"names", {"a"}}, {"low", 0}, {"high", 1}, {"hgh", 2}}}}});
            }),
            "prior: setting is \"hgh\", but must be one of high, low");
  EXPECT_EQ(message([] { Prior::from_json("simulate", {{"factors", nlohmann::json::array()}}); }),
            "simulate: the number of the prior's parameters to infer is 0, but must be at least 1");
  Prior prior;
  prior.add({"alpha"}, uniform(1, 3));
  EXPECT_EQ(message([&] { prior.add({"alpha"}, normal()); }),
            "prior: a parameter's name is \"alpha\", but must be there and used once");
  std::vector<double> theta{3.5}, z(1);
  EXPECT_EQ(message([&] { prior.to_z(theta, z); }), "prior: alpha is 3.5, but must be between 1 and 3, both excluded");
}

}  // namespace catena::prior::prior_test

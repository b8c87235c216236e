// Cauchy's noise, x' = x/2 + z + ε/2: there is no variance, and the largest of some thousand increments is hundreds of
// times their middle.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "catena/model/density/inputs.h"
#include "train/train_cases.h"

namespace catena::train::heavy_tails_test {
namespace {

double cauchy(Stream& stream) { return std::tan(std::numbers::pi * (stream.uniform() - 0.5)); }

/// States are spread as the process spreads them itself, with tails of their own.
simulate::TransitionSet cauchy_set(std::size_t rows, std::uint64_t seed = 3) {
  simulate::TransitionSet set;
  set.z = set.x = set.x_next = Matrix(rows, 1);
  set.time = Matrix(rows, 0);
  set.prior = prior::Prior::standard({"drift"});
  set.state_names = {"x"};
  Stream stream = Streams(seed).stream("cauchy");
  for (std::size_t r = 0; r < rows; ++r) {
    set.z(r, 0) = stream.normal();
    set.x(r, 0) = cauchy(stream);
    set.x_next(r, 0) = 0.5 * set.x(r, 0) + set.z(r, 0) + 0.5 * cauchy(stream);
  }
  set.theta = set.z;
  return set;
}

model::Features tails_of(const simulate::TransitionSet& set) { return model::Features(set, {}, {}, true); }

TEST(HeavyTails, AreSeenByTheirLogarithm) {
  const simulate::TransitionSet set = cauchy_set(2000);
  const model::Features features = tails_of(set);
  EXPECT_TRUE(features.tails());
  double largest = 0;
  for (std::size_t r = 0; r < set.size(); ++r) {
    std::vector<float> c(2);
    features.apply(set.record(r), c);
    largest = std::max({largest, std::abs(static_cast<double>(c[0])), std::abs(static_cast<double>(c[1]))});
    EXPECT_EQ(features.excess(set.record(r)), 0);
    for (std::size_t i = 0; i < 2; ++i) {
      const model::Feature& feature = features.all()[i];
      ASSERT_TRUE(feature.tails);
      const double value = i == 0 ? set.x(r, 0) : set.x_next(r, 0) - set.x(r, 0);
      EXPECT_NEAR(feature.value(feature.seen(value)), value, 1e-12 * std::abs(value) + 1e-12);
    }
  }
  EXPECT_LT(largest, 12);
  const model::Features back = model::Features::from_json("test", features.to_json());
  EXPECT_TRUE(back.all()[0].tails && back.all()[1].tails);
  EXPECT_EQ(back.all()[1].scale, features.all()[1].scale);
  for (const nlohmann::json& wrong : {nlohmann::json{2}, nlohmann::json{-1}, nlohmann::json{"x"}}) {
    nlohmann::json json = features.to_json();
    json["tails"] = wrong;
    EXPECT_THROW(model::Features::from_json("test", json), FileError);
  }
}

/// Neither whole numbers nor what clips: these have ways of their own.
TEST(HeavyTails, AreOfContinuousStates) {
  simulate::TransitionSet set = cauchy_set(2000);
  for (double& x : set.x_next.values()) x = std::round(x);
  EXPECT_FALSE(tails_of(set).all()[1].tails);
  set = cauchy_set(2000);
  for (double& x : set.x_next.values()) x = std::max(x, -2.0);
  EXPECT_FALSE(tails_of(set).tails());
}

/// Nor those of a proposal: with states that have them, increments do, whatever the noise.
TEST(HeavyTails, AreOfTheNoise) {
  simulate::TransitionSet set = cauchy_set(3000);
  Stream stream = Streams(6).stream("noise");
  for (std::size_t r = 0; r < set.size(); ++r) set.x_next(r, 0) = 0.5 * set.x(r, 0) + set.z(r, 0) + stream.normal();
  EXPECT_FALSE(tails_of(set).tails());
  for (const char* task : {"gaussian_rw", "lotka_volterra", "sir", "double_well", "periodic_sde"}) {
    const model::Features features = tails_of(transitions_of(task, 2000, nlohmann::json::object()));
    EXPECT_FALSE(features.tails()) << task;
    EXPECT_FALSE(features.to_json().contains("tails"));  // files of before stay as they were
  }
}

/// A ratio sees them, a density does not.
TEST(HeavyTails, AreSeenByRatiosAndScores) {
  const nlohmann::json ratio{{"network", "separable"}, {"decay", 0.1}, {"width", 16}, {"terms", 4}};
  EXPECT_TRUE(train_briefly("fnre", cauchy_set(1000), ratio, 20, 200, 2).features.tails());
  EXPECT_FALSE(
      train_briefly("fnle", cauchy_set(1000), {{"density", "gaussian"}, {"decay", 0.1}}, 20, 200, 2).features.tails());
}

/// What a density in these coordinates would have to change its variables by, for whoever gives it some.
TEST(HeavyTails, HaveTheirJacobian) {
  const model::Features features = tails_of(cauchy_set(2000));
  const model::DensityMap map(
      features, {"x"}, {.logarithms = "none", .point_masses = "none", .integers = "none", .log_increments = "none"},
      false);
  const auto v_of = [&](double x, double x_next) {
    const std::vector<double> before{x}, after{x_next};
    std::vector<float> c(2), v(1);
    features.apply({before, after}, c);
    map.increment(c.data(), {}, v, {}, {});
    return std::pair(static_cast<double>(v[0]), map.log_jacobian(c.data(), {}));
  };
  for (const double x_next : {-300.0, -2.0, 0.4, 5.0, 4000.0}) {
    const double h = 1e-2 * (1 + std::abs(x_next));
    const double slope = (v_of(0.5, x_next + h).first - v_of(0.5, x_next - h).first) / (2 * h);
    EXPECT_NEAR(std::log(slope), v_of(0.5, x_next).second, 1e-3);
  }
}

}  // namespace
}  // namespace catena::train::heavy_tails_test

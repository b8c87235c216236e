// The objective of ratio estimation: which parameters a transition is compared with.
#include "catena/train/objectives/ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "catena/nn/execute.h"
#include "train/train_cases.h"

namespace catena::train::ratio_test {
namespace {

model::RatioNetworkSettings small(const char* network) {
  model::RatioNetworkSettings settings;
  settings.network = network;
  settings.width = 12;
  settings.terms = 5;
  settings.products = 4;
  settings.squares = 2;
  settings.square_terms = 3;
  return settings;
}

model::RatioMap map_of(const TrainingData& data) { return {data.features(), data.state_names(), "none"}; }

/// The loss of a block recomputed from single ratios r(z, c).
TEST(RatioObjective, ComparesEveryTransitionWithTheParametersOfTheFollowingOnes) {
  const TrainingData data(transitions_of("gaussian_rw", 300, {{"dim", 2}}), Split{});
  RatioLossSettings loss;
  loss.loss = "contrastive";
  loss.atoms = 20;
  const model::RatioNetworkSettings network = small("separable");
  const RatioObjective objective(network, loss, map_of(data), 2);
  const model::RatioGraph single = model::record_ratio(network, map_of(data).shape(2));
  const auto weights = objective.graph().initial_weights(Streams(1));
  ASSERT_EQ(single.graph.parameter_count(), objective.graph().parameter_count());

  std::vector<std::size_t> order(40);
  std::iota(order.begin(), order.end(), 7);
  for (const std::size_t count : {33, 12}) {  // the second has fewer transitions than pairs are wanted
    nn::Workspace workspace(objective.graph(), 128, nn::Purpose::training());
    objective.fill(workspace, {data.window(0), order, 2, 2 + count}, Streams(1).stream("noise"));
    workspace.forward(weights, count);
    nn::Workspace one(single.graph, 1, nn::Purpose::inference());
    const model::RatioMap map = map_of(data);
    std::vector<float> s(map.shape(2).state), t(map.shape(2).increment);
    for (std::size_t i = 0; i < count; ++i) {
      double sum = 0, own = 0;
      for (std::size_t k = 0; k < std::min<std::size_t>(20, count); ++k) {
        map.state(data.window(0).c_of(order[2 + i]), s);
        map.increment(data.window(0).c_of(order[2 + i]), t);
        for (std::size_t f = 0; f < s.size(); ++f) one.value(single.inputs.state, 1)(f, 0) = s[f];
        for (std::size_t f = 0; f < t.size(); ++f) one.value(single.inputs.increment, 1)(f, 0) = t[f];
        const float* z = data.window(0).z_of(order[2 + (i + k) % count]);
        for (std::size_t f = 0; f < 2; ++f) one.value(single.inputs.z, 1)(f, 0) = z[f];
        one.forward(weights, 1);
        const double r = one.value(single.ratio, 1)(0, 0);
        if (k == 0) own = r;
        sum += std::exp(r);
      }
      EXPECT_NEAR(workspace.value(objective.loss(), count)(0, i), std::log(sum / 20) - own, 2e-5) << i;
    }
  }
}

/// ∫ e^r N(u; 0, I) du = 1 for any weights, states and parameters: a sum over a grid that is wide and fine enough for
/// the widest and narrowest of these Gaussians (initial weights: deviations between 0.3 and 3).
TEST(GaussianRatio, IsNormalisedOverTheIncrementForAnyWeights) {
  const TrainingData data(transitions_of("gaussian_rw", 300, {{"dim", 2}}), Split{});
  const model::RatioMap map = map_of(data);
  const model::RatioShape shape = map.shape(2);
  const model::RatioGraph ratio = model::record_ratio(small("gaussian"), shape);
  constexpr int points = 401;
  constexpr double end = 16, step = 2 * end / (points - 1);
  nn::Workspace workspace(ratio.graph, points, nn::Purpose::inference());
  std::vector<float> s(shape.state), t(shape.increment);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto weights = ratio.graph.initial_weights(Streams(seed));
    Stream stream = Streams(seed).stream("test");
    const double z[] = {stream.normal(), stream.normal()};
    map.state(data.window(0).c_of(seed), s);
    double integral = 0, at_zero = 0;
    for (int i = 0; i < points; ++i) {
      for (int j = 0; j < points; ++j) {
        const auto lane = static_cast<std::size_t>(j);
        const float u[] = {static_cast<float>(-end + i * step), static_cast<float>(-end + j * step)};
        map.statistics(u, t);
        for (std::size_t f = 0; f < 2; ++f) workspace.value(ratio.inputs.z, points)(f, lane) = static_cast<float>(z[f]);
        for (std::size_t f = 0; f < s.size(); ++f) workspace.value(ratio.inputs.state, points)(f, lane) = s[f];
        for (std::size_t f = 0; f < t.size(); ++f) workspace.value(ratio.inputs.increment, points)(f, lane) = t[f];
      }
      workspace.forward(weights, points);
      const double first = -end + i * step;
      for (int j = 0; j < points; ++j) {
        const double second = -end + j * step, r = workspace.value(ratio.ratio, points)(0, static_cast<std::size_t>(j));
        integral += std::exp(r - 0.5 * (first * first + second * second)) / (2 * std::numbers::pi) * step * step;
        if (i == points / 2 && j == points / 2) at_zero = r;
      }
    }
    EXPECT_NEAR(integral, 1, 1e-4) << seed;
    EXPECT_GT(std::abs(at_zero), 1e-3) << seed;  // not N(0, I) itself
  }
}

/// Lanes 2i and 2i + 1: a transition with its own parameters, and the same state with noise and others.
TEST(RatioObjective, PutsNoiseBesideEveryTransition) {
  const TrainingData data(transitions_of("gaussian_rw", 300, {{"dim", 2}}), Split{});
  RatioLossSettings loss;
  loss.loss = "nce";
  loss.atoms = 20;
  const RatioObjective objective(small("separable"), loss, map_of(data), 2);
  ASSERT_EQ(objective.lanes_per_example(), 2U);
  nn::Workspace workspace(objective.graph(), 128, nn::Purpose::training());
  std::vector<std::size_t> order(60);
  std::iota(order.begin(), order.end(), 30);
  objective.fill(workspace, {data.window(0), order, 0, 60}, Streams(1).stream("noise"));
  const auto input = [&](std::size_t i) { return workspace.value({objective.graph().inputs()[i]}, 120); };
  const Block z = input(0), state = input(1), increment = input(2), real = input(3);
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(real(0, 2 * i), 1);
    EXPECT_EQ(real(0, 2 * i + 1), 0);
    EXPECT_EQ(state(0, 2 * i), state(0, 2 * i + 1));
    EXPECT_EQ(increment(0, 2 * i), data.window(0).c_of(order[i])[2]);
    EXPECT_EQ(z(0, 2 * i), data.window(0).z_of(order[i])[0]);
    EXPECT_NE(z(0, 2 * i), z(0, 2 * i + 1));
    for (std::size_t f = 0; f < 2; ++f) {
      mean += increment(f, 2 * i + 1) / 120;
      square += std::pow(increment(f, 2 * i + 1), 2) / 120;
    }
  }
  // 120 numbers of N(0, 1): 4.5 deviations of 1/√120 and √(2/120), a false alarm in 70,000 seeds.
  EXPECT_NEAR(mean, 0, 0.41);
  EXPECT_NEAR(square, 1, 0.58);
}

TEST(RatioObjective, GivesAJointNetworkItsOwnParametersFirstAndOthersAfterThem) {
  const TrainingData data(transitions_of("gaussian_rw", 300, {{"dim", 2}}), Split{});
  RatioLossSettings loss;
  loss.loss = "contrastive";
  loss.atoms = 8;
  const RatioObjective objective(small("joint"), loss, map_of(data), 2);
  ASSERT_EQ(objective.lanes_per_example(), 8U);
  nn::Workspace workspace(objective.graph(), 128, nn::Purpose::training());
  std::vector<std::size_t> order(16);
  std::iota(order.begin(), order.end(), 30);
  objective.fill(workspace, {data.window(0), order, 0, 16}, Streams(1).stream("noise"));
  const Block z = workspace.value({objective.graph().inputs()[0]}, 128);
  for (std::size_t i = 0; i < 16; ++i) {
    const float* own = data.window(0).z_of(order[i]);
    EXPECT_EQ(z(0, 8 * i), own[0]);
    for (std::size_t k = 1; k < 8; ++k) EXPECT_NE(z(0, 8 * i + k), own[0]);
  }
}

}  // namespace
}  // namespace catena::train::ratio_test

// Series in one block: any length, ragged lengths, and one time at a time.

#include "catena/nn/sequences.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "catena/nn/convolution.h"
#include "catena/nn/execute.h"
#include "catena/nn/layers.h"

namespace catena::nn::sequences_test {

namespace {

constexpr std::size_t lanes = 21;

void fill(Block block, std::uint64_t seed) {
  Stream stream = Streams(seed).stream("values");
  for (std::size_t f = 0; f < block.features; ++f) stream.fill_normal(std::span<float>(block.feature(f), block.lanes));
}

/// Lengths 0, 1, …, `longest`, over and over.
std::vector<std::size_t> ragged_lengths(std::size_t longest) {
  std::vector<std::size_t> lengths(lanes);
  for (std::size_t l = 0; l < lanes; ++l) lengths[l] = l % (longest + 1);
  return lengths;
}

/// Zeros after the end of each series.
void cut(std::span<const std::size_t> lengths, std::size_t features, Block series) {
  for (std::size_t f = 0; f < series.features; ++f) {
    for (std::size_t l = 0; l < lanes; ++l) {
      if (f / features >= lengths[l]) series(f, l) = 0;
    }
  }
}

/// ∂(Σ_l w·y)/∂weights, with the same random w for every graph.
AlignedVector<float> weight_gradient(Workspace& workspace, std::span<const float> weights, Value output,
                                     std::size_t count) {
  const Block seed = workspace.gradient(output, count);
  for (std::size_t f = 0; f < seed.features; ++f) {
    for (std::size_t l = 0; l < count; ++l) seed(f, l) = std::sin(static_cast<float>(1 + f));
  }
  AlignedVector<float> gradient(weights.size());
  workspace.reverse(weights, count, output, gradient);
  return gradient;
}

constexpr std::size_t times = 9, features = 3, units = 7;

struct Gru {
  Graph graph;
  Value series, state, mask, states, last;

  Gru(std::size_t length, bool with_state, bool with_mask) {
    series = graph.input("series", Shape(length, 1, features));
    if (with_state) state = graph.input("state", units);
    if (with_mask) mask = graph.input("mask", Shape(length, 1, 1));
    states = gru_layer(graph, "gru", series, units, {state, mask});
    last = last_state(graph, states);
  }
};

}  // namespace

TEST(Gru, OneTimeAtATimeGivesTheStatesOfTheWholeSeries) {
  const Gru whole(times, false, false), single(1, true, false);
  const auto weights = whole.graph.initial_weights(Streams(1));
  ASSERT_EQ(weights.size(), single.graph.parameter_count());
  Workspace all(whole.graph, lanes, Purpose::inference()), one(single.graph, lanes, {.keep_values = true});
  const Block series = all.value(whole.series, lanes);
  fill(series, 2);
  all.forward(weights, lanes);
  const Block states = all.value(whole.states, lanes);
  for (std::size_t t = 0; t < times; ++t) {
    const Block x = one.value(single.series, lanes), h = one.value(single.state, lanes),
                next = one.value(single.states, lanes);
    for (std::size_t f = 0; f < features; ++f) {
      std::copy_n(series.feature(t * features + f), lanes, x.feature(f));
    }
    for (std::size_t i = 0; i < units; ++i) {
      for (std::size_t l = 0; l < lanes; ++l) h(i, l) = t == 0 ? 0.0F : next(i, l);
    }
    one.forward(weights, lanes);
    for (std::size_t i = 0; i < units; ++i) {
      for (std::size_t l = 0; l < lanes; ++l) EXPECT_EQ(next(i, l), states(t * units + i, l)) << "time " << t;
    }
  }
}

TEST(Gru, KeepsTheStateWhereASeriesEndedAndItsGradient) {
  const Gru ragged(times, false, true);
  const auto weights = ragged.graph.initial_weights(Streams(1));
  Workspace block(ragged.graph, lanes, Purpose::training());
  const auto lengths = ragged_lengths(times);
  const Block series = block.value(ragged.series, lanes);
  fill(series, 3);
  cut(lengths, features, series);
  fill_mask(lengths, 1, 1, block.value(ragged.mask, lanes));
  block.forward(weights, lanes);
  const Block last = block.value(ragged.last, lanes);
  const auto gradient = weight_gradient(block, weights, ragged.last, lanes);

  std::vector<double> expected(gradient.size(), 0.0);
  for (std::size_t l = 0; l < lanes; ++l) {
    if (lengths[l] == 0) {
      for (std::size_t i = 0; i < units; ++i) EXPECT_EQ(last(i, l), 0.0F);
      continue;
    }
    const Gru own(lengths[l], false, false);  // a graph as long as the series
    Workspace alone(own.graph, 1, Purpose::training());
    const Block x = alone.value(own.series, 1);
    for (std::size_t f = 0; f < x.features; ++f) x(f, 0) = series(f, l);
    alone.forward(weights, 1);
    for (std::size_t i = 0; i < units; ++i) EXPECT_EQ(last(i, l), alone.value(own.last, 1)(i, 0)) << "lane " << l;
    const auto part = weight_gradient(alone, weights, own.last, 1);
    for (std::size_t k = 0; k < part.size(); ++k) expected[k] += part[k];
  }
  double largest = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    largest = std::max(largest, std::abs(expected[k]));
    EXPECT_NEAR(gradient[k], expected[k], 1e-5 * std::max(1.0, largest)) << k;  // 100 ε: sums of 21 lanes × 9 times
  }
  EXPECT_GT(largest, 0.1);
}

TEST(Gru, DoesNothingAfterTheLastSeriesOfABlock) {
  // Series of at most three times in a block of six, against a block of three: the same bits, also of the gradients.
  constexpr std::size_t lanes = 21, features = 2, units = 5;
  const auto run = [&](std::size_t times) {
    Graph graph;
    const Value x = graph.input("x", {times, 1, features}), mask = graph.input("mask", {times, 1, 1});
    const Value last = last_state(graph, gru_layer(graph, "gru", x, units, {.mask = mask}));
    const AlignedVector<float> weights = graph.initial_weights(Streams(1));
    Workspace workspace(graph, lanes, {.parameter_gradients = true, .keep_values = true, .input_gradients = {x}});
    Stream stream = Streams(2).stream("x");
    std::vector<std::size_t> lengths(lanes);
    for (std::size_t l = 0; l < lanes; ++l) lengths[l] = 1 + l % 3;
    for (std::size_t f = 0; f < times * features; ++f) {
      for (std::size_t l = 0; l < lanes; ++l) {
        workspace.value(x, lanes)(f, l) = f < lengths[l] * features ? static_cast<float>(stream.normal()) : 0.0F;
      }
    }
    fill_mask(lengths, 1, 1, workspace.value(mask, lanes));
    std::vector<float> all;
    for (int again = 0; again < 2; ++again) {  // what stood there before must not matter
      all.clear();
      workspace.forward(weights, lanes);
      const Block seed = workspace.gradient(last, lanes);
      std::fill_n(seed.data, seed.features * seed.stride, 0.5F);
      AlignedVector<float> gradient(weights.size());
      workspace.reverse(weights, lanes, last, gradient);
      const Block state = workspace.value(last, lanes), g = workspace.gradient(x, lanes);
      for (std::size_t l = 0; l < lanes; ++l) {
        for (std::size_t f = 0; f < units; ++f) all.push_back(state(f, l));
        for (std::size_t f = 0; f < g.features; ++f) {
          if (f < 3 * features) {
            all.push_back(g(f, l));
          } else {
            EXPECT_EQ(g(f, l), 0) << f << " " << l;
          }
        }
      }
      all.insert(all.end(), gradient.begin(), gradient.end());
    }
    return all;
  };
  EXPECT_EQ(run(6), run(3));
}

TEST(Gru, HasAGradientOfAMaskThatIsZeroEverywhere) {
  // ∂L/∂m of the second time, where no lane has m ≠ 0, against a difference: h' is linear in m there.
  constexpr std::size_t lanes = 3, units = 4;
  Graph graph;
  const Value x = graph.input("x", {2, 1, 1}), mask = graph.input("mask", {2, 1, 1});
  const Value last = last_state(graph, gru_layer(graph, "gru", x, units, {.mask = mask}));
  const AlignedVector<float> weights = graph.initial_weights(Streams(4));
  Workspace workspace(graph, lanes, {.keep_values = true, .input_gradients = {mask}});
  const auto sum_at = [&](float m) {
    for (std::size_t l = 0; l < lanes; ++l) {
      workspace.value(x, lanes)(0, l) = 1.0F + static_cast<float>(l);
      workspace.value(x, lanes)(1, l) = -2.0F;
      workspace.value(mask, lanes)(0, l) = 1;
      workspace.value(mask, lanes)(1, l) = l == 1 ? m : 0.0F;
    }
    workspace.forward(weights, lanes);
    double sum = 0;
    for (std::size_t f = 0; f < units; ++f) sum += workspace.value(last, lanes)(f, 1);
    return sum;
  };
  const double with_it = sum_at(1), slope = with_it - sum_at(0);
  const Block seed = workspace.gradient(last, lanes);
  std::fill_n(seed.data, seed.features * seed.stride, 1.0F);
  workspace.reverse(weights, lanes, last, {});
  EXPECT_NEAR(workspace.gradient(mask, lanes)(1, 1), slope, 1e-6);
  EXPECT_GT(std::abs(slope), 1e-3);
}

TEST(Gru, LearnsThroughTime) {
  // The first number of a series of nine decides: the gradient must come back through all times.
  Graph graph;
  const Value series = graph.input("series", Shape(times, 1, 1)), target = graph.input("target", 1);
  const Value last = last_state(graph, gru_layer(graph, "gru", series, 8));
  const Value error = subtract(graph, dense(graph, "out", last, 1), target);
  const Value loss = graph.apply("lane_dot", {error, error});
  AlignedVector<float> weights = graph.initial_weights(Streams(4));
  Workspace workspace(graph, 64, Purpose::training());
  AlignedVector<float> gradient(weights.size());
  double first = 0, now = 0;
  for (std::uint64_t step = 0; step < 1500; ++step) {
    const Block x = workspace.value(series, 64);
    fill(x, 100 + step);
    for (std::size_t l = 0; l < 64; ++l) workspace.value(target, 64)(0, l) = x(0, l) > 0 ? 1.0F : -1.0F;
    workspace.forward(weights, 64);
    now = 0;
    for (std::size_t l = 0; l < 64; ++l) now += workspace.value(loss, 64)(0, l) / 64.0;
    if (step == 0) first = now;
    std::fill_n(workspace.gradient(loss, 64).data, 64, 1.0F / 64);
    workspace.reverse(weights, 64, loss, gradient);
    for (std::size_t k = 0; k < weights.size(); ++k) weights[k] -= 0.1F * gradient[k];
  }
  EXPECT_GT(first, 0.8);
  EXPECT_LT(now, 0.3);
}

TEST(WindowSum, IsTheSumOfItsNetworkOverEachSeriesOwnWindows) {
  constexpr std::size_t window = 3, stride = 2, outputs = 4;
  const std::size_t windows = window_count(times, window, stride);
  ASSERT_EQ(windows, 4U);
  Graph graph;
  const Value series = graph.input("series", Shape(times, 1, features));
  const Value mask = graph.input("mask", Shape(windows, 1, 1));
  const Value sum = window_sum(graph, "windows", series, outputs,
                               {.window = window, .stride = stride, .width = 10, .layers = 2, .mask = mask});
  const auto weights = graph.initial_weights(Streams(1));
  Workspace block(graph, lanes, Purpose::training());
  const auto lengths = ragged_lengths(times);
  const Block x = block.value(series, lanes);
  fill(x, 5);
  cut(lengths, features, x);
  fill_mask(lengths, window, stride, block.value(mask, lanes));
  block.forward(weights, lanes);
  const Block found = block.value(sum, lanes);
  const auto gradient = weight_gradient(block, weights, sum, lanes);

  // The twin: a dense network of one window, for each lane and each of its windows alone.
  Graph one;
  const Value seen = one.input("window", window * features);
  const Value output = mlp(one, "windows", seen, 10, 2, outputs, "gelu");
  ASSERT_EQ(one.parameter_count(), graph.parameter_count());
  Workspace alone(one, 1, Purpose::training());
  std::vector<double> expected(gradient.size(), 0.0);
  for (std::size_t l = 0; l < lanes; ++l) {
    std::array<double, outputs> total{};
    for (std::size_t begin = 0; begin + window <= lengths[l]; begin += stride) {
      for (std::size_t f = 0; f < window * features; ++f) alone.value(seen, 1)(f, 0) = x(begin * features + f, l);
      alone.forward(weights, 1);
      for (std::size_t o = 0; o < outputs; ++o) total[o] += alone.value(output, 1)(o, 0);
      const auto part = weight_gradient(alone, weights, output, 1);
      for (std::size_t k = 0; k < part.size(); ++k) expected[k] += part[k];
    }
    for (std::size_t o = 0; o < outputs; ++o) EXPECT_NEAR(found(o, l), total[o], 1e-5) << "lane " << l;
  }
  double largest = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    largest = std::max(largest, std::abs(expected[k]));
    EXPECT_NEAR(gradient[k], expected[k], 1e-5 * std::max(1.0, largest)) << k;  // 100 ε: sums of 21 lanes × 4 windows
  }
  EXPECT_GT(largest, 0.1);
}

TEST(WindowSum, WithoutAMaskCountsEveryWindow) {
  Graph graph;
  const Value series = graph.input("series", Shape(times, 1, features));
  const Value mask = graph.input("mask", Shape(window_count(times, 2, 1), 1, 1));
  const Value masked = window_sum(graph, "a", series, 2, {.width = 6, .mask = mask});
  Graph plain;
  const Value all = plain.input("series", Shape(times, 1, features));
  const Value sum = window_sum(plain, "a", all, 2, {.width = 6});
  const auto weights = graph.initial_weights(Streams(1));
  Workspace with(graph, lanes, Purpose::inference()), without(plain, lanes, Purpose::inference());
  fill(with.value(series, lanes), 6);
  fill(without.value(all, lanes), 6);
  fill_mask(std::vector<std::size_t>(lanes, times), 2, 1, with.value(mask, lanes));
  with.forward(weights, lanes);
  without.forward(weights, lanes);
  for (std::size_t o = 0; o < 2; ++o) {
    for (std::size_t l = 0; l < lanes; ++l) EXPECT_EQ(with.value(masked, lanes)(o, l), without.value(sum, lanes)(o, l));
  }
}

TEST(Convolution, LayersStackAndShapesFollow) {
  Graph graph;
  const Value picture = graph.input("picture", Shape(9, 8, 2));
  const Value first = conv2d_layer(graph, "first", picture, 6, {.kernel_y = 3, .kernel_x = 2, .stride = 2});
  EXPECT_EQ(graph.shape(first), Shape(4, 4, 6));
  const Value normed = graph.apply("gelu", {group_norm_layer(graph, "norm", first, 3)});
  EXPECT_EQ(graph.shape(normed), Shape(4, 4, 6));
  const Value second = conv2d_layer(graph, "second", normed, 5);
  EXPECT_EQ(graph.shape(second), Shape(2, 2, 5));
  EXPECT_EQ(graph.features(dense(graph, "out", second, 3)), 3U);
  EXPECT_EQ(graph.forward_flops_per_lane(), 2.0 * (16 * 6 * 12 + 4 * 5 * 54 + 3 * 20));
  EXPECT_THROW(conv2d_layer(graph, "large", second, 5), InputError);
  EXPECT_THROW(group_norm_layer(graph, "odd", second, 2), InputError);
  EXPECT_THROW(graph.apply("add", {second, graph.input("flat", 20)}, {}, {{"factor", 1}}), InputError);
}

}  // namespace catena::nn::sequences_test

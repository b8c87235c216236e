// Training: the same bits for any number of threads, no allocation in the loop, and an optimiser that equals its
// formula.

#include <gtest/gtest.h>

#include <cmath>

#include "catena/model/score/conditional_network.h"
#include "catena/nn/batch_gradient.h"
#include "catena/nn/layers.h"
#include "catena/nn/optimizer.h"
#include "nn/allocation_counter.h"

namespace catena::nn::training_test {

using model::ConditionalNetwork;
using model::record_conditional_network;

namespace {

/// The paper's network with a squared error against a noisy linear function of its inputs.
struct Problem {
  Graph graph;
  ConditionalNetwork network;
  Value target, loss;

  explicit Problem(Lanes level = Lanes::each()) : network(record_conditional_network(graph, {}, 4, 4, level)) {
    target = graph.input("target", 4);
    const Value error = subtract(graph, network.output, target);
    loss = graph.apply("lane_dot", {error, error});
  }

  BatchGradient::Fill fill(const Streams& streams, std::int64_t step) const {
    return [this, streams, step](Workspace& workspace, std::size_t begin, std::size_t end, std::size_t block) {
      Stream stream = streams.stream("batch", step, block);
      for (const Value input : {network.variable, network.condition, network.level, target}) {
        const Block x = workspace.value(input, end - begin);
        for (std::size_t f = 0; f < x.features; ++f) stream.fill_normal(std::span<float>(x.feature(f), x.lanes));
      }
      const Block y = workspace.value(target, end - begin);
      const Block v = workspace.value(network.variable, end - begin);
      const Block c = workspace.value(network.condition, end - begin);
      for (std::size_t f = 0; f < 4; ++f) {
        for (std::size_t l = 0; l < y.lanes; ++l) y(f, l) = 0.1F * y(f, l) + 0.8F * v(f, l) + 0.5F * c(f, l);
      }
    };
  }
};

struct Trained {
  OptimizerState state;
  double first_loss = 0, last_loss = 0;
};

Trained train(int threads, std::int64_t steps, std::size_t batch) {
  const Problem problem;
  const Streams streams(21);
  BatchGradient gradient(problem.graph, problem.loss, batch, Parallel(threads));
  const Optimizer optimizer(problem.graph, {});
  Trained result;
  result.state = optimizer.init(problem.graph.initial_weights(streams));
  for (std::int64_t step = 0; step < steps; ++step) {
    const double loss = gradient.compute(result.state.weights, batch, problem.fill(streams, step));
    optimizer.step(result.state, gradient.gradient(), one_cycle(step, steps, 3e-3));
    if (step == 0) result.first_loss = loss;
    result.last_loss = loss;
  }
  return result;
}

}  // namespace

TEST(Training, HasTheSameBitsForOneTwoAndFiveThreads) {
  const Trained one = train(1, 200, 1000);
  for (const int threads : {2, 5}) {
    const Trained other = train(threads, 200, 1000);
    EXPECT_EQ(one.state.weights, other.state.weights) << threads << " threads";
    EXPECT_EQ(one.state.averaged, other.state.averaged) << threads << " threads";
    EXPECT_EQ(one.last_loss, other.last_loss) << threads << " threads";
  }
  // The function is learnable down to 4 · 0.1² = 0.04; a constant reaches 4 (0.8² + 0.5² + 0.1²) = 3.6.
  EXPECT_GT(one.first_loss, 3);
  EXPECT_LT(one.last_loss, 0.36);
}

TEST(Training, AllocatesNothingInItsLoops) {
  const Problem problem;
  const auto weights = problem.graph.initial_weights(Streams(1));
  Purpose purpose = Purpose::training();
  purpose.tangents_of = {problem.network.variable};
  Workspace workspace(problem.graph, 128, purpose);
  problem.fill(Streams(2), 0)(workspace, 0, 100, 0);
  AlignedVector<float> gradient(weights.size(), 0.0F);
  const Optimizer optimizer(problem.graph, {});
  OptimizerState state = optimizer.init(weights);
  const auto replay = [&] {
    workspace.forward(weights, 100);
    workspace.reverse(weights, 100, problem.loss, gradient);
    workspace.tangents(weights, 100);
    optimizer.step(state, gradient, 1e-3);
  };
  replay();
  const long before = allocation_count();
  for (int i = 0; i < 10; ++i) replay();
  EXPECT_EQ(allocation_count() - before, 0);

  // A whole batch gradient on one thread: a fixed handful of allocations at most (the loop's closures), none per
  // sample.
  BatchGradient batch(problem.graph, problem.loss, 1000, Parallel(1));
  const BatchGradient::Fill nothing = [](Workspace&, std::size_t, std::size_t, std::size_t) {};
  batch.compute(weights, 1000, nothing);
  const long start = allocation_count();
  batch.compute(weights, 1000, nothing);
  EXPECT_LE(allocation_count() - start, 4);
}

TEST(Workspace, GivesTheSameValuesWhenMemoryIsShared) {
  const Problem problem;
  const auto weights = problem.graph.initial_weights(Streams(1));
  Workspace lean(problem.graph, 96, Purpose::inference());
  Workspace full(problem.graph, 96, Purpose::training());
  for (Workspace* workspace : {&lean, &full}) {
    problem.fill(Streams(2), 0)(*workspace, 0, 90, 0);
    workspace->forward(weights, 90);
  }
  const Block a = lean.value(problem.loss, 90);
  const Block b = full.value(problem.loss, 90);
  for (std::size_t l = 0; l < 90; ++l) EXPECT_EQ(a(0, l), b(0, l));
}

TEST(Workspace, GivesTheSameGradientsWhenReverseOverwritesWhatForwardKept) {
  const Problem problem;
  const auto weights = problem.graph.initial_weights(Streams(1));
  Purpose once = Purpose::training();
  once.reverse_once = true;
  Workspace overwriting(problem.graph, 128, once), keeping(problem.graph, 128, Purpose::training());
  std::vector<AlignedVector<float>> gradients;
  for (Workspace* workspace : {&overwriting, &keeping}) {
    gradients.emplace_back(weights.size(), 0.0F);
    for (std::int64_t round = 0; round < 2; ++round) {  // nothing of the first round is left for the second
      problem.fill(Streams(2), round)(*workspace, 0, 100, 0);
      workspace->forward(weights, 100);
      std::fill_n(workspace->gradient(problem.loss, 100).data, 100, 1.0F);
      workspace->reverse(weights, 100, problem.loss, gradients.back());
    }
  }
  EXPECT_EQ(gradients[0], gradients[1]);
}

TEST(Workspace, ReplaysOnlyWhatDependsOnAChangedInput) {
  const Problem problem(Lanes::one());
  const auto weights = problem.graph.initial_weights(Streams(1));
  Purpose purpose;
  purpose.keep_values = true;
  Workspace partial(problem.graph, 64, purpose), whole(problem.graph, 64, Purpose::inference());
  problem.fill(Streams(2), 0)(partial, 0, 64, 0);
  partial.forward(weights, 64);
  for (Workspace* workspace : {&partial, &whole}) problem.fill(Streams(2), 1)(*workspace, 0, 64, 0);
  // All inputs are new now, but only the variable is said to have changed: the others' parts are the old
  // ones.
  problem.fill(Streams(2), 0)(whole, 0, 64, 0);
  {
    Workspace fresh(problem.graph, 64, Purpose::inference());
    problem.fill(Streams(2), 1)(fresh, 0, 64, 0);
    const Block from = fresh.value(problem.network.variable, 64);
    const Block to = whole.value(problem.network.variable, 64);
    std::copy_n(from.data, from.features * from.stride, to.data);
  }
  partial.forward(weights, 64, problem.graph.dependents({problem.network.variable}));
  whole.forward(weights, 64);
  // Compare at the network's output through the loss with the same targets.
  const Block target = partial.value(problem.target, 64);
  const Block old_target = whole.value(problem.target, 64);
  std::copy_n(target.data, target.features * target.stride, old_target.data);
  partial.forward(weights, 64, problem.graph.dependents({problem.target}));
  whole.forward(weights, 64);
  for (std::size_t l = 0; l < 64; ++l) {
    EXPECT_EQ(partial.value(problem.loss, 64)(0, l), whole.value(problem.loss, 64)(0, l));
  }
}

TEST(Network, ReverseAndTangentAgreeOnTheWholeNetwork) {
  // ⟨∂L/∂x, ẋ⟩ = L̇ for L = Σ_l loss_l: two independent ways through all layers.
  for (const Lanes level : {Lanes::each(), Lanes::one()}) {
    const Problem problem(level);
    const auto weights = problem.graph.initial_weights(Streams(1));
    Purpose purpose;
    purpose.input_gradients =
        purpose.tangents_of = {problem.network.variable, problem.network.condition, problem.network.level};
    Workspace workspace(problem.graph, 64, purpose);
    problem.fill(Streams(2), 0)(workspace, 0, 50, 0);
    workspace.forward(weights, 50);
    const Block seed = workspace.gradient(problem.loss, 50);
    std::fill_n(seed.data, 50, 1.0F);
    workspace.reverse(weights, 50, problem.loss, {});
    double inner = 0, scale = 0;
    Stream stream = Streams(3).stream("tangent");
    for (const Value input : purpose.input_gradients) {
      const Block t = workspace.tangent(input, 50);
      const Block g = workspace.gradient(input, 50);
      for (std::size_t f = 0; f < t.features; ++f) {
        stream.fill_normal(std::span<float>(t.feature(f), t.lanes));
        for (std::size_t l = 0; l < t.lanes; ++l) {
          inner += static_cast<double>(t(f, l)) * g(f, l);
          scale += std::abs(static_cast<double>(t(f, l)) * g(f, l));
        }
      }
    }
    workspace.tangents(weights, 50);
    double along = 0;
    for (std::size_t l = 0; l < 50; ++l) along += workspace.tangent(problem.loss, 50)(0, l);
    EXPECT_NEAR(inner, along, 1e-5 * scale);  // a hundred ε: rounding through five layers
  }
}

TEST(Optimizer, EqualsItsFormulaInDoubles) {
  Graph graph;
  const Value x = graph.input("x", 3);
  dense(graph, "layer", x, 2);
  OptimizerConfig config;
  config.weight_decay = 0.1;
  config.clip_norm = 2;
  const Optimizer optimizer(graph, config);
  OptimizerState state = optimizer.init(graph.initial_weights(Streams(4)));
  const std::size_t n = state.weights.size();
  std::vector<double> w(state.weights.begin(), state.weights.end()), m(n, 0.0), v(n, 0.0), average = w;
  Stream stream = Streams(5).stream("gradient");
  bool clipped_once = false;
  for (int t = 1; t <= 50; ++t) {
    AlignedVector<float> g(n, 0.0F);
    for (const ParameterInfo& info : graph.parameters()) {
      for (std::size_t k = 0; k < info.size(); ++k) g[info.offset + k] = static_cast<float>(stream.normal());
    }
    double norm = 0;
    for (const float value : g) norm += static_cast<double>(value) * value;
    norm = std::sqrt(norm);
    const OptimizerInfo info = optimizer.step(state, g, 0.01);
    EXPECT_NEAR(info.gradient_norm, norm, 1e-6 * norm);
    EXPECT_EQ(info.clipped, norm > 2);
    clipped_once = clipped_once || info.clipped;
    const double kappa = std::min(config.average_decay, (1.0 + t) / (10.0 + t));
    for (const ParameterInfo& p : graph.parameters()) {
      for (std::size_t k = p.offset; k < p.offset + p.size(); ++k) {
        const double clipped = g[k] * std::min(1.0, 2 / norm);
        m[k] = 0.9 * m[k] + 0.1 * clipped;
        v[k] = 0.999 * v[k] + 0.001 * clipped * clipped;
        const double direction = m[k] / (1 - std::pow(0.9, t)) / (std::sqrt(v[k] / (1 - std::pow(0.999, t))) + 1e-8);
        w[k] -= 0.01 * (direction + (p.decays ? 0.1 : 0) * w[k]);
        average[k] += (1 - kappa) * (w[k] - average[k]);
      }
    }
  }
  EXPECT_TRUE(clipped_once);
  for (std::size_t k = 0; k < n; ++k) {
    EXPECT_NEAR(state.weights[k], w[k], 5e-5);  // 50 steps, each with a relative rounding of about 1e-6 on 0.01
    EXPECT_NEAR(state.averaged[k], average[k], 5e-5);
  }
}

TEST(Optimizer, LeavesConstantsAloneAndSkipsGradientsThatAreNotFinite) {
  Graph graph;
  fourier_features(graph, "waves", graph.input("x", 1), 8, 1.0);
  dense(graph, "layer", graph.input("y", 2), 2);
  const Optimizer optimizer(graph, {});
  OptimizerState state = optimizer.init(graph.initial_weights(Streams(4)));
  const OptimizerState before = state;
  AlignedVector<float> g(state.weights.size(), 1.0F);
  optimizer.step(state, g, 0.1);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(state.weights[k], before.weights[k]);
  EXPECT_NE(state.weights[graph.parameters()[1].offset], before.weights[graph.parameters()[1].offset]);
  g[3] = std::numeric_limits<float>::quiet_NaN();
  const OptimizerState kept = state;
  EXPECT_FALSE(optimizer.step(state, g, 0.1).finite);
  EXPECT_EQ(state.weights, kept.weights);
  EXPECT_EQ(state.step, kept.step);
}

TEST(OneCycle, RisesToThePeakAndFallsToATenThousandth) {
  EXPECT_NEAR(one_cycle(0, 1001, 1.0), 0.04, 1e-12);
  EXPECT_NEAR(one_cycle(300, 1001, 1.0), 1.0, 1e-12);
  EXPECT_NEAR(one_cycle(1000, 1001, 1.0), 1e-4, 1e-12);
  EXPECT_NEAR(one_cycle(650, 1001, 1.0), 0.5 * (1 + 1e-4), 1e-12);
  EXPECT_GT(one_cycle(0, 1, 1.0), 0);
}

TEST(Graph, FreshWeightsDoNotDependOnLayersThatAreAddedLater) {
  Graph small, large;
  for (Graph* graph : {&small, &large}) dense(*graph, "first", graph->input("x", 3), 4);
  dense(large, "second", large.input("y", 3), 4);
  const auto a = small.initial_weights(Streams(9));
  const auto b = large.initial_weights(Streams(9));
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
}

}  // namespace catena::nn::training_test

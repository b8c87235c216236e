// The planner of a workspace's memory: the places that the slow search gives, in work that grows with the nodes.

#include "catena/nn/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/nn/execute.h"
#include "catena/nn/layers.h"

namespace catena::nn::memory_plan_test {

namespace {

/// The first place of the same size that is free, by looking at all of them.
struct SlowArena {
  struct Piece {
    std::size_t offset, floats, until;
  };
  std::vector<Piece> pieces;
  std::size_t size = 0;

  std::size_t take_until(std::size_t floats, std::size_t from, std::size_t until) {
    for (Piece& piece : pieces) {
      if (piece.until < from && piece.floats == padded_lanes(floats)) {
        piece.until = until;
        return piece.offset;
      }
    }
    pieces.push_back({size, padded_lanes(floats), until});
    size += padded_lanes(floats);
    return pieces.back().offset;
  }
  void keep_until(std::size_t offset, std::size_t until) {
    for (Piece& piece : pieces) {
      if (piece.offset == offset) piece.until = std::max(piece.until, until);
    }
  }
};

constexpr double step = 3e-4;

/// x ← (1 − s) x + s tanh x, over and over: what is alive at a time is little, but the graph is long.
struct LongGraph {
  Graph graph;
  Value x, y;

  explicit LongGraph(std::size_t nodes) {
    x = y = graph.input("x", 3);
    while (graph.nodes().size() < nodes) {
      const Value a = scale(graph, 1 - step, y), b = graph.apply("tanh", {y});
      y = graph.apply("add", {a, b}, {}, {{"factor", step}});
    }
  }
};

MemoryPlan plan_of(const Graph& graph, bool training) {
  const std::size_t count = graph.nodes().size();
  return plan_memory(graph, 64,
                     {std::vector<bool>(count, training), std::vector<bool>(count, false), training, training});
}

}  // namespace

TEST(Arena, GivesThePlacesOfTheSlowSearch) {
  Stream stream = Streams(1).stream("requests");
  for (int round = 0; round < 20; ++round) {
    Arena arena;
    SlowArena slow;
    std::vector<std::size_t> given;
    std::size_t time = 0;
    for (int request = 0; request < 400; ++request) {
      time += stream.integer(2);
      const std::size_t floats = 1 + stream.integer(60), until = time + stream.integer(20);
      given.push_back(slow.take_until(floats, time, until));
      ASSERT_EQ(arena.take_until(floats, time, until), given.back());
      if (stream.integer(4) == 0) {  // what was just given lives longer
        const std::size_t longer = until + stream.integer(10);
        slow.keep_until(given.back(), longer);
        arena.keep_until(given.back(), longer);
      }
    }
    EXPECT_EQ(arena.size(), slow.size);
  }
}

TEST(MemoryPlan, WorkGrowsWithTheNodesAndMemoryDoesNotForInference) {
  for (const bool training : {false, true}) {
    const LongGraph small(2000), large(20000);
    const MemoryPlan few = plan_of(small.graph, training), many = plan_of(large.graph, training);
    EXPECT_LT(static_cast<double>(many.visits), 10.5 * static_cast<double>(few.visits));
    EXPECT_LE(many.visits, 3 * large.graph.nodes().size());
    if (!training) {
      EXPECT_EQ(many.size, few.size);
    }
  }
}

TEST(MemoryPlan, ALongGraphRunsForwardAndBack) {
  const LongGraph chain(20000);
  const AlignedVector<float> weights(chain.graph.parameter_count());
  Workspace lean(chain.graph, 16, Purpose::inference()), full(chain.graph, 16, {.input_gradients = {chain.x}});
  for (Workspace* workspace : {&lean, &full}) {
    const Block x = workspace->value(chain.x, 16);
    for (std::size_t f = 0; f < 3; ++f) {
      for (std::size_t l = 0; l < 16; ++l) x(f, l) = 0.7F * static_cast<float>(f + 1) - 0.2F * static_cast<float>(l);
    }
    workspace->forward(weights, 16);
  }
  const Block seed = full.gradient(chain.y, 16);
  for (std::size_t f = 0; f < 3; ++f) std::fill_n(seed.feature(f), 16, 1.0F);
  full.reverse(weights, 16, chain.y, {});
  const std::size_t steps = (chain.graph.nodes().size() - 1) / 3;
  const double tolerance = static_cast<double>(steps) * 2 * std::numeric_limits<float>::epsilon();
  for (std::size_t f = 0; f < 3; ++f) {
    for (std::size_t l = 0; l < 16; ++l) {
      double y = full.value(chain.x, 16)(f, l), slope = 1;
      for (std::size_t k = 0; k < steps; ++k) {
        slope *= 1 - step + step / (std::cosh(y) * std::cosh(y));
        y = (1 - step) * y + step * std::tanh(y);
      }
      EXPECT_EQ(lean.value(chain.y, 16)(f, l), full.value(chain.y, 16)(f, l));
      // The map contracts, so that rounding errors of ε add up at most; the slope is 0.2 to 1.
      EXPECT_NEAR(lean.value(chain.y, 16)(f, l), y, tolerance);
      EXPECT_NEAR(full.gradient(chain.x, 16)(f, l), slope, tolerance);
    }
  }
}

TEST(Graph, HasAnyNumberOfInputsAndNamesThoseThatChanged) {
  Graph graph;
  std::vector<Value> inputs, squares;
  for (int i = 0; i < 100; ++i) inputs.push_back(graph.input("x", 1));
  for (const Value x : inputs) squares.push_back(multiply(graph, x, x));
  const Value all = concatenate(graph, squares);
  const Replay after = graph.dependents({inputs[70], inputs[99]});
  EXPECT_EQ(after.nodes, (std::vector<int>{squares[70].node, squares[99].node, all.node}));
  EXPECT_EQ(graph.dependents_of_all_but({inputs[3]}).nodes.size(), 100U);  // 99 squares and their concatenation

  Workspace workspace(graph, 4, {.keep_values = true});
  const auto write = [&](std::size_t i, float value) { std::fill_n(workspace.value(inputs[i], 4).data, 4, value); };
  for (std::size_t i = 0; i < 100; ++i) write(i, 1);
  workspace.forward({}, 4);
  for (std::size_t i = 0; i < 100; ++i) write(i, 2);
  workspace.forward({}, 4, after);
  const Block y = workspace.value(all, 4);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(y(i, 0), i == 70 || i == 99 ? 4.0F : 1.0F) << i;
}

}  // namespace catena::nn::memory_plan_test

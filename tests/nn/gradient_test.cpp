// Every operation of the registry: forward against its slow twin, reverse and tangent against the complex step.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "catena/nn/execute.h"
#include "nn/operation_cases.h"
#include "nn/targets.h"

namespace catena::nn::testing::gradient_test {

namespace {

constexpr double step = 1e-30;  // of the complex step: no difference is taken, so it may be as small as one likes
constexpr std::size_t capacity = 40;

/// One case set up with random operands; everything that the comparison needs.
struct Trial {
  Graph graph;
  std::vector<Value> inputs;
  std::vector<Parameter> parameters;
  Value output;
  AlignedVector<float> weights;
  Operands operands;

  Trial(const OperationCase& c, std::size_t lanes) {
    for (const InputShape& shape : c.inputs) inputs.push_back(graph.input("x", shape.features, shape.lanes));
    for (const ParameterInfo& info : c.parameters) parameters.push_back(graph.parameter(info));
    output = graph.apply(c.operation, inputs, parameters, c.attributes);
    const Streams streams(11);
    weights = graph.initial_weights(streams);
    Stream stream = streams.stream("operands");
    operands.attributes = c.attributes;
    operands.lanes = lanes;
    for (const InputShape& shape : c.inputs) {
      ZBlock x(shape.features, std::vector<Z>(shape.lanes.count(lanes)));
      for (auto& row : x) {
        for (Z& v : row) {
          const double draw = stream.normal();
          v = static_cast<float>(c.positive_inputs ? std::exp(draw) : draw);
        }
      }
      operands.inputs.push_back(x);
    }
    for (std::size_t p = 0; p < c.parameters.size(); ++p) {
      const ParameterInfo& info = graph.parameters()[p];
      operands.parameters.emplace_back(weights.begin() + static_cast<std::ptrdiff_t>(info.offset),
                                       weights.begin() + static_cast<std::ptrdiff_t>(info.offset + info.size()));
    }
  }

  /// Writes the inputs; the padding is NaN, which no lane that counts may ever see.
  void write_inputs(Workspace& workspace) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Block x = workspace.value(inputs[i], operands.lanes);
      std::fill_n(x.data, x.features * x.stride, std::numeric_limits<float>::quiet_NaN());
      for (std::size_t f = 0; f < x.features; ++f) {
        for (std::size_t l = 0; l < x.lanes; ++l) x(f, l) = static_cast<float>(operands.inputs[i][f][l].real());
      }
    }
  }
};

/// Single precision, sums of up to 40 lanes × 13 features of numbers of order one: an error of n ε/2 in the worst case,
/// √n ε typically; 100 ε = 1.2e-5 lies between, and any wrong term is of order one.
double tolerance(double largest) { return 100 * std::numeric_limits<float>::epsilon() * std::max(1.0, largest); }

Z weighted_sum(const ZBlock& y, const std::vector<std::vector<float>>& w) {
  Z sum = 0;
  for (std::size_t f = 0; f < y.size(); ++f) {
    for (std::size_t l = 0; l < y[f].size(); ++l) sum += static_cast<double>(w[f][l]) * y[f][l];
  }
  return sum;
}

void check_case(const OperationCase& c, std::size_t lanes) {
  SCOPED_TRACE(c.operation + " on " + std::to_string(lanes) + " lanes");
  Trial trial(c, lanes);
  Purpose purpose;
  purpose.parameter_gradients = true;
  purpose.input_gradients = purpose.tangents_of = trial.inputs;
  Workspace workspace(trial.graph, capacity, purpose);
  trial.write_inputs(workspace);
  workspace.forward(trial.weights, lanes);

  const ZBlock expected = c.reference(trial.operands);
  const Block y = workspace.value(trial.output, lanes);
  ASSERT_EQ(y.features, expected.size());
  ASSERT_EQ(y.lanes, expected[0].size());
  double largest = 0;
  for (std::size_t f = 0; f < y.features; ++f) {
    for (std::size_t l = 0; l < y.lanes; ++l) {
      largest = std::max(largest, std::abs(expected[f][l].real()));
      EXPECT_NEAR(y(f, l), expected[f][l].real(), tolerance(largest)) << "value at " << f << ", " << l;
    }
  }

  // Reverse: L = Σ w y with random w.
  Stream stream = Streams(12).stream("weights");
  std::vector<std::vector<float>> w(y.features, std::vector<float>(y.lanes));
  const Block seed = workspace.gradient(trial.output, lanes);
  std::fill_n(seed.data, seed.features * seed.stride, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t f = 0; f < y.features; ++f) {
    for (std::size_t l = 0; l < y.lanes; ++l) seed(f, l) = w[f][l] = static_cast<float>(stream.normal());
  }
  AlignedVector<float> gradient(trial.weights.size(), std::numeric_limits<float>::quiet_NaN());  // to be overwritten
  workspace.reverse(trial.weights, lanes, trial.output, gradient);
  Operands moved = trial.operands;
  const auto derivative = [&](Z& place) {
    place += Z(0, step);
    const double d = weighted_sum(c.reference(moved), w).imag() / step;
    place = place.real();
    return d;
  };
  for (std::size_t i = 0; i < moved.inputs.size(); ++i) {
    const Block g = workspace.gradient(trial.inputs[i], lanes);
    for (std::size_t f = 0; f < g.features; ++f) {
      for (std::size_t l = 0; l < g.lanes; ++l) {
        const double exact = derivative(moved.inputs[i][f][l]);
        EXPECT_NEAR(g(f, l), exact, tolerance(std::abs(exact)))
            << "gradient of input " << i << " at " << f << ", " << l;
      }
    }
  }
  for (std::size_t p = 0; p < moved.parameters.size(); ++p) {
    const ParameterInfo& info = trial.graph.parameters()[p];
    for (std::size_t k = 0; k < info.size(); ++k) {
      const double exact = info.trainable ? derivative(moved.parameters[p][k]) : 0;
      EXPECT_NEAR(gradient[info.offset + k], exact, tolerance(std::abs(exact)))
          << "gradient of parameter " << p << " at " << k;
    }
  }

  // Tangents: each input alone (the others' tangents are zero), then all together.
  for (std::size_t moving = 0; moving <= trial.inputs.size(); ++moving) {
    Operands shifted = trial.operands;
    for (std::size_t i = 0; i < trial.inputs.size(); ++i) {
      const Block t = workspace.tangent(trial.inputs[i], lanes);
      std::fill_n(t.data, t.features * t.stride, 0.0F);
      if (moving != i && moving != trial.inputs.size()) continue;
      for (std::size_t f = 0; f < t.features; ++f) {
        for (std::size_t l = 0; l < t.lanes; ++l) {
          t(f, l) = static_cast<float>(stream.normal());
          shifted.inputs[i][f][l] += Z(0, step * t(f, l));
        }
      }
    }
    workspace.tangents(trial.weights, lanes);
    const ZBlock exact = c.reference(shifted);
    const Block t = workspace.tangent(trial.output, lanes);
    for (std::size_t f = 0; f < t.features; ++f) {
      for (std::size_t l = 0; l < t.lanes; ++l) {
        const double d = exact[f][l].imag() / step;
        EXPECT_NEAR(t(f, l), d, tolerance(std::abs(d))) << "tangent at " << f << ", " << l;
      }
    }
  }
}

}  // namespace

TEST(EveryOperation, HasACaseInTheseTests) {
  for (const Operation& operation : operations()) {
    bool found = false;
    for (const OperationCase& c : operation_cases()) found = found || c.operation == operation.name;
    EXPECT_TRUE(found) << operation.name << " is registered, but operation_cases() has no case for it";
  }
}

TEST(EveryOperation, AgreesWithItsTwinAndTheComplexStep) {
  catena::testing::for_each_target([] {
    for (const OperationCase& c : operation_cases()) {
      for (const std::size_t lanes : {std::size_t{1}, std::size_t{16}, std::size_t{37}, capacity}) check_case(c, lanes);
    }
  });
}

TEST(EveryOperation, AddsToAGradientThatIsThereAlready) {
  // Each case twice on the same inputs, summed: every gradient is the sum of two contributions.
  for (const OperationCase& c : operation_cases()) {
    const std::size_t lanes = 19;
    Trial trial(c, lanes);
    const Value twice = trial.graph.apply(
        "add", {trial.output, trial.graph.apply(c.operation, trial.inputs, trial.parameters, c.attributes)}, {}, {1.0});
    for (const bool once : {false, true}) {  // as training does: what forward() kept may be overwritten
      SCOPED_TRACE(c.operation + (once ? ", reversed once" : ""));
      Purpose purpose;
      purpose.parameter_gradients = true;
      purpose.input_gradients = trial.inputs;
      purpose.reverse_once = once;
      Workspace workspace(trial.graph, capacity, purpose);
      const auto seed_and_reverse = [&](Value output) {
        trial.write_inputs(workspace);
        workspace.forward(trial.weights, lanes);
        const Block seed = workspace.gradient(output, lanes);
        std::fill_n(seed.data, seed.features * seed.stride, 1.0F);
        AlignedVector<float> gradient(trial.weights.size(), 0.0F);
        workspace.reverse(trial.weights, lanes, output, gradient);
        std::vector<float> all(gradient.begin(), gradient.end());
        for (const Value input : trial.inputs) {
          const Block g = workspace.gradient(input, lanes);
          for (std::size_t f = 0; f < g.features; ++f) all.insert(all.end(), g.feature(f), g.feature(f) + g.lanes);
        }
        return all;
      };
      const std::vector<float> single = seed_and_reverse(trial.output);
      const std::vector<float> both = seed_and_reverse(twice);
      ASSERT_EQ(single.size(), both.size());
      for (std::size_t k = 0; k < single.size(); ++k)
        EXPECT_NEAR(both[k], 2 * single[k], tolerance(std::abs(single[k])));
    }
  }
}

TEST(Graph, RefusesOperandsThatDoNotFit) {
  Graph graph;
  const Value x = graph.input("x", 3);
  const Value y = graph.input("y", 4);
  EXPECT_THROW(graph.apply("add", {x, y}, {}, {1.0}), InputError);
  EXPECT_THROW(graph.apply("multiply", {x}), InputError);
  EXPECT_THROW(graph.apply("slice", {x}, {}, {2, 9}), InputError);
  EXPECT_THROW(graph.apply("no such operation", {x}), InputError);
  EXPECT_THROW(graph.apply("dense", {x}, {graph.parameter({.name = "w", .rows = 2, .cols = 4})}), InputError);
  EXPECT_THROW(graph.apply("multiply", {x, graph.input("one", 3, Lanes::one())}), InputError);
}

}  // namespace catena::nn::testing::gradient_test

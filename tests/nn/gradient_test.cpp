// Every operation of the registry: forward against its slow twin, reverse and tangent against the complex step.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "catena/nn/execute.h"
#include "nn/allocation_counter.h"
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
    for (const InputShape& input : c.inputs) inputs.push_back(graph.input("x", input.shape, input.lanes));
    for (const ParameterInfo& info : c.parameters) parameters.push_back(graph.parameter(info));
    output = graph.apply(c.operation, inputs, parameters, c.attributes);
    const Streams streams(11);
    weights = graph.initial_weights(streams);
    Stream stream = streams.stream("operands");
    operands.attributes = c.attributes;
    operands.lanes = lanes;
    for (const InputShape& input : c.inputs) {
      ZBlock x(input.shape.size(), std::vector<Z>(input.lanes.count(lanes)));
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
  purpose.input_gradients = trial.inputs;
  const bool has_tangent = operations().at("test", c.operation).tangent != nullptr;
  if (has_tangent) purpose.tangents_of = trial.inputs;
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
  for (std::size_t moving = 0; has_tangent && moving <= trial.inputs.size(); ++moving) {
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
        "add", {trial.output, trial.graph.apply(c.operation, trial.inputs, trial.parameters, c.attributes)}, {},
        {{"factor", 1}});
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
      for (std::size_t k = 0; k < single.size(); ++k) {
        EXPECT_NEAR(both[k], 2 * single[k], tolerance(std::abs(single[k])));
      }
    }
  }
}

TEST(EveryOperation, AllocatesNothingWhenItIsReplayed) {
  for (const OperationCase& c : operation_cases()) {
    SCOPED_TRACE(c.operation);
    constexpr std::size_t lanes = 37;
    const Trial trial(c, lanes);
    Purpose purpose;
    purpose.parameter_gradients = true;
    purpose.input_gradients = trial.inputs;
    const bool has_tangent = operations().at("test", c.operation).tangent != nullptr;
    if (has_tangent) purpose.tangents_of = trial.inputs;
    Workspace with_derivatives(trial.graph, capacity, purpose), lean(trial.graph, capacity, {.keep_values = true});
    const Replay some = trial.graph.dependents({trial.inputs[0]});
    AlignedVector<float> gradient(trial.weights.size());
    for (Workspace* workspace : {&with_derivatives, &lean}) trial.write_inputs(*workspace);
    const Block seed = with_derivatives.gradient(trial.output, lanes);
    std::fill_n(seed.data, seed.features * seed.stride, 1.0F);
    const auto replay = [&](std::size_t count) {
      lean.forward(trial.weights, count);
      lean.forward(trial.weights, count, some);
      with_derivatives.forward(trial.weights, count);
      with_derivatives.reverse(trial.weights, count, trial.output, gradient);
      if (has_tangent) with_derivatives.tangents(trial.weights, count);
    };
    replay(lanes);
    const long before = allocation_count();
    replay(lanes);
    replay(lanes - 1);  // another number of lanes: views are made anew, memory is not
    EXPECT_EQ(allocation_count() - before, 0);
  }
}

TEST(Workspace, RefusesTangentsThroughAnOperationWithoutOne) {
  Graph graph;
  const Value x = graph.input("x", Shape(2, 1, 3)), h = graph.input("h", 4);
  const std::vector<Parameter> weights{
      graph.parameter({.name = "w", .rows = 12, .cols = 3}), graph.parameter({.name = "u", .rows = 12, .cols = 4}),
      graph.parameter({.name = "b", .rows = 12, .cols = 1}), graph.parameter({.name = "c", .rows = 4, .cols = 1})};
  graph.apply("gru", {graph.apply("tanh", {x}), h}, weights, {{"state", 1}, {"mask", 0}});
  const Value other = graph.input("other", 2);
  graph.apply("tanh", {other});
  try {
    const Workspace workspace(graph, 8, {.tangents_of = {x}});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "workspace: an operation that tangents pass through is gru, but must be one that has a tangent");
  }
  EXPECT_NO_THROW(Workspace(graph, 8, {.tangents_of = {other}}));  // these pass it by
}

TEST(Graph, RefusesAttributesThatAreMissingOrUnknown) {
  Graph graph;
  const Value x = graph.input("x", 3);
  const auto message = [&](const Attributes& attributes) -> std::string {
    try {
      graph.apply("slice", {x}, {}, attributes);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({{"begin", 0}}), "slice: end is missing, but must be given once");
  EXPECT_EQ(message({{"begin", 0}, {"end", 1}, {"begin", 1}}), "slice: begin is doubled, but must be given once");
  EXPECT_EQ(message({{"begin", 0}, {"stop", 1}}), "slice: an attribute is stop, but must be one of begin, end");
  EXPECT_EQ(message({{"begin", 0}, {"end", 1}}), "");
  EXPECT_THROW(graph.apply("tanh", {x}, {}, {{"factor", 1}}), InputError);
}

TEST(Graph, RefusesOperandsThatDoNotFit) {
  Graph graph;
  const Value x = graph.input("x", 3);
  const Value y = graph.input("y", 4);
  EXPECT_THROW(graph.apply("add", {x, y}, {}, {{"factor", 1}}), InputError);
  EXPECT_THROW(graph.apply("multiply", {x}), InputError);
  EXPECT_THROW(graph.apply("slice", {x}, {}, {{"begin", 2}, {"end", 9}}), InputError);
  EXPECT_THROW(graph.apply("no such operation", {x}), InputError);
  EXPECT_THROW(graph.apply("dense", {x}, {graph.parameter({.name = "w", .rows = 2, .cols = 4})}), InputError);
  EXPECT_THROW(graph.apply("multiply", {x, graph.input("one", 3, Lanes::one())}), InputError);
}

}  // namespace catena::nn::testing::gradient_test

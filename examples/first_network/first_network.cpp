// A small network learns what one transition says about θ. For the Gaussian walk x' = 0.9 x + θ + ε the answer is
// known: given one transition, θ ~ N((x' − 0.9 x)/2, ½ I), so that the mean of θ can be compared with what the network
// predicts.
//
// It is also the shortest example of the library as a library: simulate, record a network, train it, use it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catena/core/errors.h"
#include "catena/nn/batch_gradient.h"
#include "catena/nn/layers.h"
#include "catena/nn/optimizer.h"
#include "catena/simulate/transitions/transitions.h"
#include "catena/tasks/task.h"

using namespace catena;

namespace {

constexpr std::size_t dim = 2;
constexpr std::size_t batch = 1000;
constexpr std::int64_t steps = 3000;

/// The network's input: x^t and the increment x^(t+1) − x^t, scaled to order one (the proposal has deviation 10).
void write_transition(const simulate::TransitionSet& data, std::size_t row, Block input, std::size_t lane) {
  for (std::size_t i = 0; i < dim; ++i) {
    input(i, lane) = static_cast<float>(data.x(row, i) / 10);
    input(dim + i, lane) = static_cast<float>(data.x_next(row, i) - data.x(row, i));
  }
}

int run() {
  const tasks::Task task = tasks::make_task("gaussian_rw", {{"dim", dim}});
  const auto progress = make_progress(ProgressStyle::automatic);
  simulate::SimulationPlan plan;
  plan.budget = 20'000;
  plan.seed = 1;
  const simulate::TransitionSet training = simulate::simulate(task, plan, Parallel(), *progress);
  plan.seed = 2;
  plan.budget = 2'000;
  const simulate::TransitionSet held_out = simulate::simulate(task, plan, Parallel(), *progress);

  nn::Graph graph;
  const nn::Value transition = graph.input("transition", 2 * dim);
  const nn::Value theta = graph.input("theta", dim);
  const nn::Value predicted = nn::mlp(graph, "mlp", transition, 50, 2, dim, "gelu");
  const nn::Value error = nn::subtract(graph, predicted, theta);
  const nn::Value loss = graph.apply("lane_dot", {error, error});
  fmt::print("A network of {} weights learns E[θ | x, x'] from {} single transitions of gaussian_rw.\n",
             graph.trainable_count(), training.size());

  const Streams streams(3);
  const nn::Optimizer optimizer(graph, {});
  nn::OptimizerState state = optimizer.init(graph.initial_weights(streams));
  nn::BatchGradient gradient(graph, loss, batch, Parallel());
  double last = 0;
  progress->start("train", "steps", static_cast<std::uint64_t>(steps));
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto fill = [&](nn::Workspace& workspace, std::size_t begin, std::size_t end, std::size_t block) {
      Stream stream = streams.stream("batch", step, block);
      const Block input = workspace.value(transition, end - begin);
      const Block target = workspace.value(theta, end - begin);
      for (std::size_t lane = 0; lane < end - begin; ++lane) {
        const std::size_t row = stream.integer(training.size());
        write_transition(training, row, input, lane);
        for (std::size_t i = 0; i < dim; ++i) target(i, lane) = static_cast<float>(training.theta(row, i));
      }
    };
    last = gradient.compute(state.weights, batch, fill);
    optimizer.step(state, gradient.gradient(), nn::one_cycle(step, steps, 2e-3));
    progress->note(fmt::format("loss {:.3f}", last));
    progress->advance(1);
  }
  progress->finish();

  // What it learned, on transitions that it has not seen.
  nn::Workspace workspace(graph, held_out.size(), nn::Purpose{.keep_values = true});
  const Block input = workspace.value(transition, held_out.size());
  const Block target = workspace.value(theta, held_out.size());
  for (std::size_t row = 0; row < held_out.size(); ++row) {
    write_transition(held_out, row, input, row);
    for (std::size_t i = 0; i < dim; ++i) target(i, row) = static_cast<float>(held_out.theta(row, i));
  }
  workspace.forward(state.averaged, held_out.size());
  const Block mean = workspace.value(predicted, held_out.size());
  const Block losses = workspace.value(loss, held_out.size());
  double total = 0, squares = 0;
  for (std::size_t row = 0; row < held_out.size(); ++row) {
    total += losses(0, row);
    for (std::size_t i = 0; i < dim; ++i) {
      const double exact = (held_out.x_next(row, i) - 0.9 * held_out.x(row, i)) / 2;
      squares += std::pow(mean(i, row) - exact, 2);
    }
  }
  const auto rows = static_cast<double>(held_out.size());
  fmt::print("\n   x^t           x^(t+1)        exact mean of θ   learned\n");
  for (std::size_t row = 0; row < 6; ++row) {
    const auto exact = [&](std::size_t i) { return (held_out.x_next(row, i) - 0.9 * held_out.x(row, i)) / 2; };
    fmt::print("({:6.2f},{:6.2f}) ({:6.2f},{:6.2f})  ({:5.2f},{:5.2f})     ({:5.2f},{:5.2f})\n", held_out.x(row, 0),
               held_out.x(row, 1), held_out.x_next(row, 0), held_out.x_next(row, 1), exact(0), exact(1), mean(0, row),
               mean(1, row));
  }
  fmt::print("\nheld-out loss {:.3f}; no predictor can be below {:.3f} (half of d)\n", total / rows, 0.5 * dim);
  fmt::print("deviation from the exact mean {:.3f} (root mean square; the posterior's own deviation is {:.3f})\n",
             std::sqrt(squares / rows / dim), std::sqrt(0.5));
  return 0;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

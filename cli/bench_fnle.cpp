// FNLE on lotka_volterra: a training step at batch 1,000, and 1,000 posterior draws for a series of 100 transitions.

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench.h"
#include "catena/nn/batch_gradient.h"
#include "catena/nn/optimizer.h"
#include "catena/sample/posterior.h"
#include "catena/tasks/task.h"
#include "catena/train/density_objective.h"
#include "catena/train/fnle.h"

namespace catena::cli {

namespace {

constexpr std::size_t batch = 1000;
constexpr int training_steps = 3000;  // enough for a posterior of the right shape and width

double train_step_seconds(BenchContext& context, const train::TrainingData& data) {
  train::FnleSettings settings;
  settings.density.density = "gaussian";
  const train::DensityMap map(data.features(), data.state_names(), train::resolve(settings.inputs, data), false);
  const train::DensityObjective objective(settings.density, map, data.prior().size());
  nn::BatchGradient gradient(objective.graph(), objective.loss(), batch, Parallel(1));
  const nn::Optimizer optimizer(objective.graph(), {});
  nn::OptimizerState state = optimizer.init(objective.graph().initial_weights(Streams(1)));
  const std::vector<std::size_t> order = Streams(1).stream("order").permutation(batch);
  const auto fill = [&](nn::Workspace& workspace, std::size_t begin, std::size_t end, std::size_t block) {
    objective.fill(workspace, {data.window(0), order, begin, end}, Streams(1).stream("noise", block));
  };
  return context.seconds_per_call([&] {
    gradient.compute(state.weights, batch, fill);
    optimizer.step(state, gradient.gradient(), 1e-4);
  });
}

}  // namespace

void bench_fnle(BenchContext& context) {
  const tasks::Task task = tasks::make_task("lotka_volterra");
  simulate::SimulationPlan plan;
  plan.proposal = task.proposal;
  plan.seed = 1;
  train::TrainingData data(simulate::simulate(task, plan, Parallel(1), silent_progress()), {});
  context.record("fnle_train_step_ms", 1e3 * train_step_seconds(context, data), "ms",
                 "FNLE: forward, backward and AdamW at batch 1,000, one core");

  train::LoopSettings loop;
  loop.steps = training_steps;
  const train::TrainedModel model = train::train("fnle", {.data = data,
                                                          .loop = loop,
                                                          .settings = {{"density", "gaussian"}, {"decay", 0.5}},
                                                          .streams = Streams(1),
                                                          .parallel = Parallel(1),
                                                          .progress = silent_progress(),
                                                          .checkpoint = {}});
  Matrix theta(1, task.prior.size());
  Stream stream = Streams(2).stream("series");
  const Matrix series = simulate::simulate_series(task, theta, 100, stream)[0];
  const auto begin = std::chrono::steady_clock::now();
  const sample::PosteriorDraws draws =
      sample::draw_posterior({.model = model, .series = series, .times = {}, .draws = 1000}, Streams(3), Parallel(1));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  context.record("fnle_sample_s.T100", elapsed.count(), "s",
                 "1,000 draws for 100 transitions of lotka_volterra, one core");
  context.record("fnle_sample_r_hat.T100", draws.info["r_hat"].get<double>(), "", "their R-hat");
  context.record("fnle_sample_ess.T100",
                 std::min(draws.info["bulk_ess"].get<double>(), draws.info["tail_ess"].get<double>()), "",
                 "their effective sample size");
}

}  // namespace catena::cli

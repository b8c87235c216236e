#include "bench/posterior.h"

#include <algorithm>

#include "catena/core/stopwatch.h"
#include "catena/sample/posterior.h"
#include "catena/simulate/whole_series/series_simulation.h"
#include "catena/tasks/task.h"

namespace catena::cli {

namespace {

simulate::SimulationPlan bench_plan(const tasks::Task& task, std::uint64_t transitions) {
  simulate::SimulationPlan plan;
  plan.proposal = task.proposal;
  plan.budget = transitions;
  plan.seed = 1;
  return plan;
}

}  // namespace

train::TrainingData bench_data(const std::string& task_name, std::uint64_t transitions) {
  const tasks::Task task = tasks::make_task(task_name);
  return {simulate::simulate(task, bench_plan(task, transitions), Parallel(1), silent_progress()), {}};
}

train::TrainingData bench_series_data(const std::string& task_name, std::uint64_t transitions) {
  const tasks::Task task = tasks::make_task(task_name);
  return {simulate::simulate_series_set(task, bench_plan(task, transitions), {.transitions = 10}, Parallel(1),
                                        silent_progress()),
          {}};
}

BenchStep::BenchStep(const train::Objective& objective, const train::TrainingData& data)
    : objective_(&objective),
      data_(&data),
      gradient_(objective.graph(), objective.loss(), batch_, Parallel(1), objective.block_lanes()),
      optimizer_(objective.graph(), {}),
      state_(optimizer_.init(objective.graph().initial_weights(Streams(1)))),
      order_(Streams(1).stream("order").permutation(batch_)) {
  for (std::size_t& row : order_) row %= data.training_size();
  if (objective.by_length()) train::sort_by_length(data.window(0), order_);
}

void BenchStep::operator()() {
  gradient_.compute(
      state_.weights, batch_, [&](nn::Workspace& workspace, std::size_t begin, std::size_t end, std::size_t block) {
        objective_->fill(workspace, {data_->window(0), order_, begin, end}, Streams(1).stream("noise", block));
      });
  optimizer_.step(state_, gradient_.gradient(), 1e-4);
}

double BenchStep::flops() const {
  return 3 * objective_->graph().forward_flops_per_lane() * static_cast<double>(batch_);
}

model::TrainedModel bench_model(const std::string& method, train::TrainingData& data, int training_steps,
                                const nlohmann::json& settings) {
  train::LoopSettings loop;
  loop.steps = training_steps;
  return train::train(method, {.data = data,
                               .loop = loop,
                               .settings = settings,
                               .streams = Streams(1),
                               .parallel = Parallel(1),
                               .progress = silent_progress(),
                               .checkpoint = {}});
}

Matrix bench_series(const std::string& task_name, std::size_t transitions, bool draw_theta) {
  const tasks::Task task = tasks::make_task(task_name);
  Matrix z(1, task.prior.size()), theta = z;
  Stream stream = Streams(2).stream("series");
  if (draw_theta) stream.fill_normal(z.values());
  task.prior.to_theta(z.row(0), theta.row(0));
  return simulate::simulate_series(task, theta, transitions, stream)[0];
}

void bench_posterior(BenchContext& context, const model::TrainedModel& model, const std::string& task,
                     std::size_t transitions, const std::string& key) {
  const Matrix series = bench_series(task, transitions);
  const Stopwatch watch;
  const sample::PosteriorDraws draws =
      sample::draw_posterior({.model = model, .series = {{series}}, .draws = 1000}, Streams(3), Parallel(1));
  context.record(fmt::format("{}_sample_s.{}", model.method, key), watch.seconds(), "s",
                 fmt::format("1,000 draws for {} transitions of {}, one core", transitions, task));
  context.record(fmt::format("{}_sample_r_hat.{}", model.method, key), draws.info["r_hat"].get<double>(), "",
                 "their R-hat");
  context.record(fmt::format("{}_sample_ess.{}", model.method, key),
                 std::min(draws.info["bulk_ess"].get<double>(), draws.info["tail_ess"].get<double>()), "",
                 "their effective sample size");
  context.record(fmt::format("{}_sample_densities.{}", model.method, key), draws.info["evaluations"].get<double>(), "",
                 fmt::format("densities of the whole series, by {}", draws.info["kernel"].get<std::string>()));
}

}  // namespace catena::cli

#include "bench_posterior.h"

#include <algorithm>

#include "catena/core/stopwatch.h"
#include "catena/sample/posterior.h"
#include "catena/tasks/task.h"

namespace catena::cli {

train::TrainingData lotka_volterra_data() {
  const tasks::Task task = tasks::make_task("lotka_volterra");
  simulate::SimulationPlan plan;
  plan.proposal = task.proposal;
  plan.seed = 1;
  return {simulate::simulate(task, plan, Parallel(1), silent_progress()), {}};
}

void bench_posterior(BenchContext& context, const std::string& method, train::TrainingData& data, int training_steps,
                     const nlohmann::json& settings) {
  train::LoopSettings loop;
  loop.steps = training_steps;
  const train::TrainedModel model = train::train(method, {.data = data,
                                                          .loop = loop,
                                                          .settings = settings,
                                                          .streams = Streams(1),
                                                          .parallel = Parallel(1),
                                                          .progress = silent_progress(),
                                                          .checkpoint = {}});
  const tasks::Task task = tasks::make_task("lotka_volterra");
  Matrix theta(1, task.prior.size());
  Stream stream = Streams(2).stream("series");
  const Matrix series = simulate::simulate_series(task, theta, 100, stream)[0];
  const Stopwatch watch;
  const sample::PosteriorDraws draws =
      sample::draw_posterior({.model = model, .series = series, .times = {}, .draws = 1000}, Streams(3), Parallel(1));
  context.record(method + "_sample_s.T100", watch.seconds(), "s",
                 "1,000 draws for 100 transitions of lotka_volterra, one core");
  context.record(method + "_sample_r_hat.T100", draws.info["r_hat"].get<double>(), "", "their R-hat");
  context.record(method + "_sample_ess.T100",
                 std::min(draws.info["bulk_ess"].get<double>(), draws.info["tail_ess"].get<double>()), "",
                 "their effective sample size");
}

}  // namespace catena::cli

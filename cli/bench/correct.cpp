// Correction by simulation: 10,000 transitions of lotka_volterra, as 100 series of one θ (a species dies out in a
// longer one), corrected with 100,000 simulated ones, on two cores; without and with the draws from the learned
// posterior.

#include "catena/sample/correct/correct.h"

#include <algorithm>

#include "bench/posterior.h"
#include "catena/tasks/task.h"

namespace catena::cli {

namespace {

constexpr std::size_t corrected_series = 100, corrected_transitions = 100;  // of each series
constexpr int correct_training_steps = 3000;                                // as in fnle.cpp
constexpr int correct_budget = 100'000;

}  // namespace

void bench_correct(BenchContext& context) {
  const tasks::Task task = tasks::make_task("lotka_volterra");
  train::TrainingData data = bench_data(task.name);
  const nlohmann::json settings{{"density", "gaussian"}, {"decay", 0.5}};
  const model::TrainedModel model = bench_model("fnle", data, correct_training_steps, settings);
  const std::vector<double> z(task.prior.size(), 0.0);
  Matrix theta(corrected_series, task.prior.size());
  for (std::size_t s = 0; s < corrected_series; ++s) task.prior.to_theta(z, theta.row(s));
  Stream stream = Streams(2).stream("series");
  const std::vector<Matrix> all = simulate::simulate_series(task, theta, corrected_transitions, stream);
  sample::CorrectionRequest request{
      .posterior = {.model = model, .series = {}, .draws = 1000}, .simulator = task, .settings = {}};
  for (const Matrix& series : all) request.posterior.series.push_back({series});
  request.settings.budget = correct_budget;

  const sample::Correction found = sample::correct_posterior(request, Streams(3), Parallel(2));
  const double learned = found.info["seconds"]["learned"].get<double>();
  const double correct = found.info["seconds"]["correct"].get<double>();
  const double spent = found.info["spent"].get<double>();
  context.record("correct_s.T10000", correct, "s",
                 "correction of 10,000 transitions with 100,000 and 1,000 draws, two cores");
  context.record("correct_with_learned_s.T10000", learned + correct, "s",
                 "the same with 1,000 draws from the learned posterior");
  context.record("correct_transitions_per_s.T10000", spent / correct, "1/s", "simulated, without the learned draws");
  context.record("correct_with_learned_transitions_per_s.T10000", spent / (learned + correct), "1/s", "with them");
  context.record("correct_rounds.T10000", found.info["rounds"].get<double>(), "", "rounds of simulation");
}

}  // namespace catena::cli

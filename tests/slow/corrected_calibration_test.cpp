// Corrected posteriors are calibrated whatever the network learned: one that had 100 training steps is far off on
// gaussian_rw, and the truths rank uniformly among the draws of its posteriors once these are corrected.
//
// False alarms: the smallest of three p-values (two parameters, and both together by TARP), times three (Bonferroni),
// is below 0.001 for one seed in a thousand. The seeds are fixed.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "catena/evaluate/calibrate.h"
#include "catena/simulate/transitions/transitions.h"
#include "catena/train/method.h"

namespace catena::evaluate::corrected_calibration_test {
namespace {

constexpr double false_alarms = 0.001;

model::TrainedModel hardly_trained(const tasks::Task& task) {
  simulate::SimulationPlan plan;
  plan.budget = 10'000;
  plan.seed = 1;
  train::TrainingData data(simulate::simulate(task, plan, Parallel(), silent_progress()), {});
  train::LoopSettings loop;
  loop.steps = 100;
  return train::train("fnle", {.data = data,
                               .loop = loop,
                               .settings = {{"density", "gaussian"}},
                               .streams = Streams(1),
                               .parallel = Parallel(),
                               .progress = silent_progress(),
                               .checkpoint = {}});
}

double smallest_p_value(const CalibrationResult& result) {
  double smallest = uniformity(result.tarp).band_p_value;
  for (const Ranks& ranks : result.ranks) smallest = std::min(smallest, uniformity(ranks).band_p_value);
  return smallest;
}

TEST(CorrectedPosteriors, AreCalibratedAlthoughTheNetworkIsBad) {
  constexpr std::size_t series = 200, transitions = 100;
  const tasks::Task task = tasks::make_task("gaussian_rw", {{"dim", 2}});
  const model::TrainedModel model = hardly_trained(task);
  const KnownSeries known = known_series("test", task, series, transitions, Streams(2));
  CalibrationPlan plan{.draws = 99};
  const auto tests = static_cast<double>(task.prior.size() + 1);
  const CalibrationResult learned = calibrate(model, known, plan, Streams(3), Parallel(), silent_progress());
  EXPECT_LT(smallest_p_value(learned) * tests, 1e-6) << "the network is not bad enough to show anything";
  plan.simulator = &task;
  plan.correction.budget = 100 * transitions;
  const CalibrationResult corrected = calibrate(model, known, plan, Streams(3), Parallel(), silent_progress());
  const nlohmann::json found = summary(corrected, Streams(3));
  fmt::print("learned: p {:.2g}; corrected: p {:.2g}, {}\n", smallest_p_value(learned), smallest_p_value(corrected),
             found["correction"].dump());
  EXPECT_GT(smallest_p_value(corrected) * tests, false_alarms) << found.dump(1);
  EXPECT_GE(found["correction"]["corrected"].get<double>(), 0.95);
  // At the certificate's rate of 0.01 more than 10 of 200 exact posteriors raise an alarm once in 100,000 seeds.
  EXPECT_GT(found["correction"]["alarms"].get<double>(), 0.05);
}

}  // namespace
}  // namespace catena::evaluate::corrected_calibration_test

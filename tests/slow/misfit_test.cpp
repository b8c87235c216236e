// Of series that the task itself made, at most the stated share is called a misfit: 500 series of 100 transitions,
// spread over all tasks, with models of 10,000 transitions and default settings, by a density (fnle) and by a ratio
// (fnre).
//
// The rate of judge.h is 0.01. More than 12 of 500 at that rate happen once in 600 seeds; the seeds are fixed.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "catena/evaluate/calibrate.h"
#include "catena/sample/judgement/judge.h"
#include "catena/simulate/transitions.h"
#include "catena/train/method.h"

namespace catena::sample::misfit_test {
namespace {

model::TrainedModel learned(const tasks::Task& task, const std::string& method) {
  simulate::SimulationPlan plan;
  plan.budget = 10'000;
  plan.seed = 1;
  train::TrainingData data(simulate::simulate(task, plan, Parallel(), silent_progress()), {});
  return train::train(method, {.data = data,
                               .loop = {},
                               .settings = nlohmann::json::object(),
                               .streams = Streams(1),
                               .parallel = Parallel(),
                               .progress = silent_progress(),
                               .checkpoint = {}});
}

class Misfit : public testing::TestWithParam<std::string> {};

TEST_P(Misfit, IsSeldomFoundInSeriesOfTheTaskItself) {
  constexpr std::size_t all = 500, transitions = 100;
  const std::size_t tasks = tasks::registry().names().size();
  std::size_t series = 0, called = 0;
  for (const tasks::TaskEntry& entry : tasks::registry()) {
    const tasks::Task task = tasks::make_task(std::string(entry.name), nlohmann::json::object());
    const model::TrainedModel model = learned(task, GetParam());
    const std::size_t count = (all + tasks - 1) / tasks;
    const evaluate::KnownSeries known = evaluate::known_series("test", task, count, transitions, Streams(2));
    std::size_t here = 0;
    for (std::size_t s = 0; s < count; ++s) {
      PosteriorRequest request{
          .model = model,
          .series = {{known.series[s], known.times.empty() ? std::span<const double>() : known.times[s]}}};
      if (!known.covariates.empty()) request.series.front().covariates = known.covariates[s];
      request.draws = 200;
      const Streams streams = Streams(3).child("series", s);
      PosteriorDraws draws = draw_posterior(request, streams, Parallel());
      judge_draws(request, draws, streams.child("judgement"), Parallel());
      for (const DrawFinding& finding : draws.findings) here += finding.outcome == Outcome::misfit ? 1 : 0;
    }
    fmt::print("{} {}: {} of {} called a misfit\n", GetParam(), entry.name, here, count);
    series += count;
    called += here;
  }
  EXPECT_LE(called, 12) << "of " << series;
}

INSTANTIATE_TEST_SUITE_P(EveryWay, Misfit, testing::Values("fnle", "fnre"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace catena::sample::misfit_test

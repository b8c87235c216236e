// Draws from the posterior of a long series by scores: lotka_volterra, Euler–Maruyama with 500 steps (the paper's) for
// score networks and the default sampler for fnbe, rule gauss with amortised precisions, 1,000 draws, one core.
// Speed does not depend on what the networks have learned, so that they are trained for a few steps only.

#include "bench/posterior.h"
#include "catena/core/stopwatch.h"
#include "catena/sample/posterior.h"
#include "catena/tasks/observe.h"

namespace catena::cli {

namespace {

constexpr int fnse_steps = 20;  // of training

double sample_seconds(const model::TrainedModel& model, const tasks::Observation& observation,
                      const nlohmann::json& settings) {
  const Stopwatch watch;
  static_cast<void>(
      sample::draw_posterior({.model = model, .series = {{observation.series}}, .draws = 1000, .settings = settings},
                             Streams(1), Parallel(1)));
  return watch.seconds();
}

}  // namespace

void bench_fnse(BenchContext& context) {
  const tasks::Task task = tasks::make_task("lotka_volterra");
  const tasks::Observation short_series = tasks::observe("bench", task, 100, 7),
                           long_series = tasks::observe("bench", task, 10000, 7);
  const auto single = [](const char* network) -> nlohmann::json {
    return {{"network", network}, {"ensemble", 1}, {"centre", false}};
  };
  train::TrainingData data = bench_data("lotka_volterra");
  const model::TrainedModel joint = bench_model("fnse", data, fnse_steps, single("joint")),
                            separable = bench_model("fnse", data, fnse_steps, single("separable")),
                            blurred = bench_model("fnbe", data, fnse_steps, nlohmann::json::object());
  const nlohmann::json paper = {{"sampler", "euler_maruyama"}, {"steps", 500}}, defaults = nlohmann::json::object();
  context.record("fnse_sample_s.joint.T100", sample_seconds(joint, short_series, paper), "s",
                 "1,000 draws, T = 100, one joint network");
  context.record("fnse_sample_s.separable.T100", sample_seconds(separable, short_series, paper), "s",
                 "the same, one separable network");
  context.record("fnse_sample_s.separable.T10000", sample_seconds(separable, long_series, paper), "s",
                 "the same, T = 10,000");
  context.record("fnbe_sample_s.T100", sample_seconds(blurred, short_series, defaults), "s",
                 "T = 100, fnbe with its defaults: a likelihood with blurred parameters");
}

}  // namespace catena::cli

// FNLE: a training step at batch 1,000, and 1,000 posterior draws for a series of 100 transitions of lotka_volterra,
// and of 100, 1,000 and 10,000 of double_well, which goes on for ever (a species of lotka_volterra dies out before): by
// the density whose cost grows with them, and by the separable one.

#include "catena/train/methods/fnle.h"
#include "bench/posterior.h"
#include "catena/train/choose/inputs.h"
#include "catena/train/objectives/density.h"

namespace catena::cli {

namespace {

constexpr int fnle_steps = 3000;  // enough for a posterior of the right shape and width

double train_step_seconds(BenchContext& context, const train::TrainingData& data) {
  train::FnleSettings settings;
  settings.density.density = "gaussian";
  const model::DensityMap map(data.features(), data.state_names(), train::choose_inputs(settings.inputs, data), false);
  const train::DensityObjective objective(settings.density, map, data.prior().size());
  BenchStep step(objective, data);
  return context.seconds_per_call([&] { step(); });
}

}  // namespace

void bench_fnle(BenchContext& context) {
  const nlohmann::json settings{{"density", "gaussian"}, {"decay", 0.5}};
  train::TrainingData data = bench_data("lotka_volterra");
  context.record("fnle_train_step_ms", 1e3 * train_step_seconds(context, data), "ms",
                 "FNLE: forward, backward and AdamW at batch 1,000, one core");
  bench_posterior(context, bench_model("fnle", data, fnle_steps, settings), "lotka_volterra", 100, "T100");

  train::TrainingData endless = bench_data("double_well");
  const model::TrainedModel model = bench_model("fnle", endless, fnle_steps, settings);
  bench_posterior(context, model, "double_well", 100, "double_well.T100");
  bench_posterior(context, model, "double_well", 1000, "T1000");
  bench_posterior(context, model, "double_well", 10'000, "T10000");
  const nlohmann::json separable{{"density", "separable"}, {"decay", 0.5}};
  const model::TrainedModel sums = bench_model("fnle", endless, fnle_steps, separable);
  bench_posterior(context, sums, "double_well", 100, "separable.T100");
  bench_posterior(context, sums, "double_well", 10'000, "separable.T10000");
}

}  // namespace catena::cli

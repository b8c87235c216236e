// FNRE on lotka_volterra: 1,000 posterior draws for a series of 100 transitions.

#include "bench/posterior.h"

namespace catena::cli {

namespace {

constexpr int fnre_steps = 600;  // enough for a posterior of about the right shape and width

}  // namespace

void bench_fnre(BenchContext& context) {
  train::TrainingData data = bench_data("lotka_volterra");
  const model::TrainedModel model = bench_model("fnre", data, fnre_steps, {{"decay", 0.5}});
  bench_posterior(context, model, "lotka_volterra", 100, "T100");
}

}  // namespace catena::cli

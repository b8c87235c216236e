// FNRE on lotka_volterra: 1,000 posterior draws for a series of 100 transitions.

#include "bench_posterior.h"

namespace catena::cli {

namespace {

constexpr int training_steps = 600;  // enough for a posterior of about the right shape and width

}  // namespace

void bench_fnre(BenchContext& context) {
  train::TrainingData data = lotka_volterra_data();
  bench_posterior(context, "fnre", data, training_steps, {{"decay", 0.5}});
}

}  // namespace catena::cli

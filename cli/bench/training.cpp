// Training from 10,000 transitions of lotka_volterra with each method's defaults, and quickly, by the wall clock on two
// threads, with the held-out loss that it reached; 100,000 transitions on their own. They take minutes, and run only if
// they are named.

#include <fmt/format.h>

#include "bench/bench.h"
#include "bench/posterior.h"
#include "catena/core/stopwatch.h"

namespace catena::cli {

namespace {

void bench_training_of(BenchContext& context, const std::string& method, train::TrainingData& data,
                       const std::string& effort, const std::string& key) {
  const Stopwatch watch;
  const model::TrainedModel model = train::train(method, {.data = data,
                                                          .loop = {},
                                                          .settings = {{"effort", effort}},
                                                          .streams = Streams(1),
                                                          .parallel = Parallel(2),
                                                          .progress = silent_progress(),
                                                          .checkpoint = {}});
  const double seconds = watch.seconds();
  context.record(fmt::format("{}_train_s.{}", method, key), seconds, "s",
                 fmt::format("training with effort {} from {} {}, two threads", effort, data.size(),
                             data.whole_series() ? "series and copies" : "transitions"));
  context.record(fmt::format("{}_train_loss.{}", method, key), model.network(model.main_network).held_out_loss, "",
                 "the held-out loss that it reached");
}

}  // namespace

void bench_training(BenchContext& context) {
  for (const train::Method& method : train::methods()) {
    for (const std::string effort : {"quick", "default"}) {
      train::TrainingData data =
          method.whole_series ? bench_series_data("lotka_volterra") : bench_data("lotka_volterra");
      bench_training_of(context, std::string(method.name), data, effort, effort == "quick" ? "10k_quick" : "10k");
    }
  }
}

void bench_long_training(BenchContext& context) {
  train::TrainingData data = bench_data("lotka_volterra", 100'000);
  bench_training_of(context, "fnle", data, "default", "100k");
}

}  // namespace catena::cli

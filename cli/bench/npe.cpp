// NPE: a training step at batch 1,000 on series of ten transitions and their shortened copies, beside the machine's
// peak (as if all were of ten), and 1,000 draws from the posterior of one. gaussian_rw has one parameter,
// lotka_volterra four.

#include "catena/train/methods/npe.h"
#include "bench/posterior.h"
#include "catena/sample/posterior.h"
#include "catena/train/objectives/posterior.h"

namespace catena::cli {

void bench_npe(BenchContext& context) {
  for (const std::string task : {"gaussian_rw", "lotka_volterra"}) {
    train::TrainingData data = bench_series_data(task), with_copies = bench_series_data(task);
    const train::NpeSettings settings;
    with_copies.add_shortened(settings.shortened, Streams(1));
    const train::PosteriorObjective objective(settings, with_copies);
    BenchStep step(objective, with_copies);
    const BesidePeak turns = context.beside_peak({[&] { step(); }});
    context.record("npe_train_step_ms." + task, 1e3 * median(turns[0].core), "ms",
                   "NPE: forward, backward and AdamW at batch 1,000, series of ten and copies, one core");
    context.record("npe_train_step_share." + task, turns.share(0, step.flops()), "of peak",
                   "the same, in matrix products");
    const model::TrainedModel model = bench_model("npe", data, 50, {{"decay", 0.5}});
    const Matrix series = bench_series(task, 10);
    const double seconds = context.seconds_per_call([&] {
      sample::draw_posterior({.model = model, .series = {{series}}, .draws = 1000}, Streams(3), Parallel(1));
    });
    context.record("npe_sample_ms." + task, 1e3 * seconds, "ms", "1,000 draws for a series of ten, one core");
  }
}

}  // namespace catena::cli

// catena bench: speed figures beside the machine's peak, measured in the same run.

#include "bench/bench.h"

#include <fmt/format.h>

#include <memory>

#include "catena/core/registry.h"
#include "common.h"
#include "ranks.h"
#include "verb.h"

namespace catena::cli {

// One line per measurement: its function, defined in the file of its subject.
void bench_peak(BenchContext& context);
void bench_products(BenchContext& context);
void bench_networks(BenchContext& context);
void bench_convolutions(BenchContext& context);
void bench_fnse(BenchContext& context);
void bench_tasks(BenchContext& context);
void bench_fnle(BenchContext& context);
void bench_fnre(BenchContext& context);
void bench_npe(BenchContext& context);
void bench_mcmc(BenchContext& context);
void bench_correct(BenchContext& context);
void bench_training(BenchContext& context);
void bench_long_training(BenchContext& context);
void bench_ranks(BenchContext& context);

namespace {

const Registry<Benchmark>& benchmarks() {
  static const Registry<Benchmark> registry = [] {
    std::vector<Benchmark> list = {
        {"peak", "fused multiply-adds on one core", bench_peak},
        {"products", "the matrix products of dense layers", bench_products},
        {"networks", "the score network, forward and in training", bench_networks},
        {"convolutions", "the embedding of a flow, forward and in training", bench_convolutions},
        {"fnle", "likelihoods of transitions: a training step, a posterior of 100 transitions", bench_fnle},
        {"fnre", "ratios of transitions: a posterior of 100 transitions", bench_fnre},
        {"fnse", "1,000 draws from the posterior of a series by scores", bench_fnse},
        {"npe", "posteriors of whole series: a training step, 1,000 draws", bench_npe},
        {"tasks", "transitions per second of each task on one core", bench_tasks},
        {"correct", "correction by simulation of 10,000 transitions with 100,000", bench_correct},
        {"training", "each method's training from 10,000 transitions (only by name: it takes minutes)", bench_training,
         /*takes_minutes=*/true},
        {"long_training", "fnle's training from 100,000 transitions (only by name: it takes minutes)",
         bench_long_training, /*takes_minutes=*/true},
        {"ranks", "what ranks gain: mpirun -n 2 catena bench --only ranks (only by name: it takes minutes)",
         bench_ranks,
         /*takes_minutes=*/true},
        {"mcmc", "effective draws per density of each Markov-chain kernel", bench_mcmc},
    };
    return Registry<Benchmark>("benchmark", std::move(list));
  }();
  return registry;
}

struct BenchOptions {
  Common common;
  std::string only;
  double run_seconds = 0.05;
};

int run_bench(const BenchOptions& options) {
  std::vector<const Benchmark*> chosen;
  for (const Benchmark& benchmark : benchmarks()) {
    if (options.only.empty() && benchmark.takes_minutes) continue;
    if (benchmark.name.starts_with(options.only)) chosen.push_back(&benchmark);
  }
  check::that(!chosen.empty(), "catena bench", "--only", options.only,
              fmt::format("the beginning of one of {}", fmt::join(benchmarks().names(), ", ")));

  const bool several = launch().tasks > 1;
  check::that(!several || (chosen.size() == 1 && chosen.front()->name == "ranks"), "catena bench", "--only",
              options.only, "ranks, if there are several");
  BenchContext context(options.run_seconds);
  const auto progress = options.common.make_progress();
  progress->start("bench", "measurements", chosen.size());
  for (const Benchmark* benchmark : chosen) {
    progress->note(benchmark->help);
    benchmark->run(context);
    progress->advance(1);
  }
  progress->finish();

  if (options.common.json) {
    nlohmann::json object = nlohmann::json::object();
    for (const Measurement& m : context.measurements()) object[m.key] = m.value;
    print_json(object);
  } else {
    for (const Measurement& m : context.measurements()) {
      fmt::print("{:<28} {:>12.5g} {:<10} {}\n", m.key, m.value, m.unit, m.meaning);
    }
  }
  return success;
}

Run set_up_bench(CLI::App& app) {
  const auto options = std::make_shared<BenchOptions>();
  add_common(app, options->common, Seeded::no);
  add_flag(app, options->only, "--only", "run only the measurements whose names begin so", anything());
  add_flag(app, options->run_seconds, "--run-seconds", "length of one of the runs whose median is taken",
           between(1e-4, 60.0));
  std::string footer = "Measurements:\n";
  for (const Benchmark& benchmark : benchmarks()) footer += fmt::format("  {:<24}{}\n", benchmark.name, benchmark.help);
  app.footer(footer);
  return [options] { return run_bench(*options); };
}

}  // namespace

const Peak& BenchContext::peak() {
  if (peak_.gflops == 0) peak_ = measure_peak(runs, run_seconds_);
  return peak_;
}

BesidePeak BenchContext::beside_peak(std::vector<std::function<void()>> works) const {
  constexpr int slices = 50;  // of a run: one millisecond, shorter than what a scheduler gives to anybody
  return BesidePeak(std::move(works), runs * slices, run_seconds_ / slices);
}

std::vector<Turns> BenchContext::in_turn(const std::vector<std::function<void()>>& works) const {
  constexpr int slices = 5;
  return run_in_turn(works, runs * slices, run_seconds_ / slices);
}

void BenchContext::record(std::string key, double value, std::string unit, std::string meaning) {
  measurements_.push_back({std::move(key), value, std::move(unit), std::move(meaning)});
}

Verb bench_verb() {
  return {"bench", "measure speed, beside the machine's measured peak", set_up_bench, /*on_ranks=*/true};
}

}  // namespace catena::cli

// What ranks gain: mpirun -n 2 catena bench --only ranks. Each measurement is one piece of work on all ranks, one
// thread each, by the clock of the first; tools/scaling runs it on 1, 2 and 4 ranks and prints efficiencies
// (docs/scaling.md).

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <functional>

#include "bench/bench.h"
#include "bench/posterior.h"
#include "catena/core/ranks/bytes.h"
#include "catena/core/ranks/ranks.h"
#include "catena/core/stopwatch.h"
#include "catena/experiment/benchmark.h"
#include "catena/sample/correct/correct.h"
#include "catena/tasks/observe.h"
#include "catena/tasks/task.h"
#include "ranks.h"

namespace catena::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t ranks_quick_budget = 5'000'000, ranks_slow_budget = 500'000;  // some seconds on one core
constexpr int ranks_correct_budget = 30'000, ranks_correct_length = 200;
constexpr double ranks_slow_step = 1e-3;  // seconds of a simulator for which one asks for many machines
constexpr int ranks_train_steps = 2000;

/// A folder for all ranks, that is gone with the first.
class SharedFolder {
 public:
  explicit SharedFolder(Ranks& ranks) : first_(ranks.first()) {
    std::string name = (fs::temp_directory_path() / fmt::format("catena-bench-{}", ::getpid())).string();
    ranks.broadcast(name);
    path_ = name;
    fs::create_directories(path_);
  }
  ~SharedFolder() {
    std::error_code error;
    if (first_) fs::remove_all(path_, error);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  bool first_;
  fs::path path_;
};

/// The same simulator, with so many seconds more for each of its steps.
simulate::Model slowed(simulate::Model model, double seconds) {
  const auto now = [] {  // of this thread's processor
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  model.simulator.step = [step = std::move(model.simulator.step), seconds, now](const simulate::StepInput& input,
                                                                                Stream& stream, StateBlock next) {
    const double until = now() + seconds * static_cast<double>(next.lanes);
    step(input, stream, next);
    while (now() < until) {
    }
  };
  return model;
}

/// Does the work on all ranks and records how long it took.
void time_on_ranks(BenchContext& context, Ranks& ranks, const std::string& key, const std::string& meaning,
                   const std::function<void()>& work) {
  ranks.barrier();
  const Stopwatch watch;
  const std::clock_t began = std::clock();
  work();
  const double busy = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  double busiest = 0;
  for (const std::string& bytes : ranks.all_gather(BytesWriter().put(busy).take())) {
    busiest = std::max(busiest, BytesReader(bytes).get<double>());
  }
  context.record(key, watch.seconds(), "s", meaning);
  context.record(key + ".cpu", busiest, "s", "of the processor of the busiest rank");
}

void bench_messages(BenchContext& context, Ranks& ranks) {
  if (!ranks.shared()) return;
  const auto seconds_of = [&](std::size_t bytes, int times) {
    ranks.barrier();
    const Stopwatch watch;
    for (int i = 0; i < times; ++i) static_cast<void>(ranks.all_gather(std::string(bytes, 'x')));
    return watch.seconds() / times;
  };
  constexpr std::size_t large = std::size_t{1} << 20;
  const double latency = seconds_of(8, 2000), whole = seconds_of(large, 100);
  context.record("ranks_latency_us", 1e6 * latency, "us", "all ranks send all ranks 8 bytes");
  context.record("ranks_bandwidth_MB_per_s",
                 static_cast<double>(large * static_cast<std::size_t>(ranks.size() - 1)) / 1e6 / (whole - latency),
                 "MB/s", "into each rank, of messages of a megabyte");
}

void bench_simulate_on_ranks(BenchContext& context, const Parallel& parallel, const fs::path& folder) {
  const tasks::Task task = tasks::make_task("double_well");
  const auto measure = [&](const std::string& key, std::uint64_t budget, double slow) {
    const simulate::Model model = slowed(task, slow);
    simulate::SimulationPlan plan;
    plan.budget = budget;
    plan.seed = 1;
    time_on_ranks(
        context, parallel.ranks(), key,
        fmt::format("{} transitions to a file{}", budget, slow > 0 ? fmt::format(", {:.0f} us each", 1e6 * slow) : ""),
        [&] { simulate::simulate_to_file(folder / (key + ".nc"), model, plan, parallel, silent_progress()); });
  };
  measure("ranks_simulate_s.quick", ranks_quick_budget, 0);
  measure("ranks_simulate_s.slow", ranks_slow_budget, ranks_slow_step / 100);
}

void bench_correct_on_ranks(BenchContext& context, const Parallel& parallel) {
  const tasks::Task task = tasks::make_task("lotka_volterra");
  train::TrainingData data = bench_data(task.name);
  const model::TrainedModel model = bench_model("fnle", data, 1000, {{"density", "gaussian"}, {"decay", 0.5}});
  const tasks::Observation observed = tasks::observe("bench", task, ranks_correct_length, 7);
  for (const double slow : {0.0, ranks_slow_step}) {
    const simulate::Model simulator = slowed(task, slow);
    sample::CorrectionRequest request{.posterior = {.model = model, .series = {{observed.series}}, .draws = 1000},
                                      .simulator = simulator,
                                      .settings = {}};
    request.settings.budget = ranks_correct_budget;
    time_on_ranks(context, parallel.ranks(), slow > 0 ? "ranks_correct_s.slow" : "ranks_correct_s.quick",
                  fmt::format("{} transitions corrected with {}{}", ranks_correct_length, ranks_correct_budget,
                              slow > 0 ? fmt::format(" that take {:.0f} us each", 1e6 * slow) : ""),
                  [&] { sample::correct_posterior(request, Streams(3), parallel); });
  }
}

void bench_sweep_on_ranks(BenchContext& context, const Parallel& parallel, const fs::path& folder) {
  const experiment::Sweep sweep = experiment::Sweep::from_json(
      "bench",
      {{"tasks", {{{"name", "gaussian_rw"}}, {{"name", "double_well"}}}},
       {"methods", {{{"method", "fnle"}, {"train", {{"steps", 300}, {"density", "gaussian"}, {"decay", 0.1}}}}}},
       {"budgets", {2000}},
       {"seeds", {1, 2}},
       {"transitions", {1, 10}},
       {"observations", 3},
       {"draws", 500},
       {"metrics", {"c2st", "sw1"}}});
  time_on_ranks(context, parallel.ranks(), "ranks_sweep_s", "a sweep of four models and 24 rows",
                [&] { experiment::run_sweep(sweep, folder / "sweep", {}, parallel, silent_progress()); });
}

void bench_train_on_ranks(BenchContext& context, const Parallel& parallel) {
  const auto measure = [&](const std::string& key, const std::string& meaning, const nlohmann::json& settings,
                           int steps) {
    train::TrainingData data = bench_data("lotka_volterra");
    train::LoopSettings loop;
    loop.steps = steps;
    loop.evaluations = 5;
    loop.patience = 1;
    model::TrainedModel model;
    time_on_ranks(context, parallel.ranks(), key, meaning, [&] {
      model = train::train("fnle", {.data = data,
                                    .loop = loop,
                                    .settings = settings,
                                    .streams = Streams(1),
                                    .parallel = parallel,
                                    .progress = silent_progress(),
                                    .checkpoint = {}});
    });
    if (key == "ranks_train_s.one") {
      context.record("ranks_train_weights", static_cast<double>(model::weight_count(model.network(model.main_network))),
                     "", "of that network");
    }
  };
  measure("ranks_train_s.one", fmt::format("{} steps of one network: ranks share batches of 1,000", ranks_train_steps),
          {{"density", "gaussian"}, {"decay", 0.5}, {"log_increments", "none"}}, ranks_train_steps);
  measure("ranks_train_s.search", "a search of three candidates: ranks share networks",
          {{"density", "gaussian"}, {"log_increments", "none"}}, ranks_train_steps / 2);
}

}  // namespace

void bench_ranks(BenchContext& context) {
  const Parallel parallel(1, program_ranks());
  Ranks& ranks = parallel.ranks();
  const SharedFolder folder(ranks);
  context.record("ranks", ranks.size(), "", "processes, of one thread each");
  bench_messages(context, ranks);
  bench_simulate_on_ranks(context, parallel, folder.path());
  bench_correct_on_ranks(context, parallel);
  bench_sweep_on_ranks(context, parallel, folder.path());
  bench_train_on_ranks(context, parallel);
}

}  // namespace catena::cli

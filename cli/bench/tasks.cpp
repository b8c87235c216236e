// Transitions per second on one core, for each task: θ from the prior, x from the fixed proposal or, where there is
// none, initial states carried on; one transition. And the share of the peak that a solver of fields has.

#include "bench/bench.h"
#include "catena/simulate/source.h"
#include "catena/tasks/kolmogorov_flow/solver.h"
#include "catena/tasks/task.h"

namespace catena::cli {

namespace {

/// Four pairs of products with halves of n/2 × n/2 in each inner step (solver.h): what is left out, fluxes and forces,
/// is a third of the time.
void bench_flow(BenchContext& context) {
  using namespace tasks::kolmogorov_flow;
  const Options options;
  const Solver solver(options);
  Flow flow(solver.side());
  std::vector<double> start(options.states());
  Stream stream = Streams(1).stream("flow");
  initial_state(solver, options, stream, start);
  const std::vector<float> state(start.begin(), start.end());
  solver.read(state, flow);
  const StepCoefficients coefficients = solver.coefficients(0.5, 1000);
  constexpr int steps = 10;
  const BesidePeak turns = context.beside_peak({[&] {
    for (int k = 0; k < steps; ++k) solver.inner_step(coefficients, flow);
  }});
  const auto n = static_cast<double>(options.grid);
  context.record("flow_share", turns.share(0, steps * 4 * n * n * n), "of peak",
                 "kolmogorov_flow, 64 × 64: its solver, in matrix products");
}

}  // namespace

void bench_tasks(BenchContext& context) {
  for (const tasks::TaskEntry& entry : tasks::registry()) {
    const tasks::Task task = entry.make(nlohmann::json::object());
    const Streams streams(1);
    const nlohmann::json proposal = task.fixed_proposal.is_null() ? task.proposal : task.fixed_proposal;
    const simulate::TransitionSource source(task, simulate::make_proposal("bench", proposal, {task, streams}), streams);
    simulate::TransitionLanes lanes(task, source.lanes());
    std::size_t block = 0;
    const double seconds = context.seconds_per_call([&] {
      source.make_block(block++, source.block_rows(), lanes, [](const simulate::TransitionLanes&, std::size_t) {});
    });
    context.record(fmt::format("transitions_per_s.{}", entry.name), static_cast<double>(source.block_rows()) / seconds,
                   "1/s", "theta and x drawn, one transition, one core");
  }
  bench_flow(context);
}

}  // namespace catena::cli

// Transitions per second on one core, for each task: θ from the prior, x from the fixed proposal, one transition.

#include "bench/bench.h"
#include "catena/simulate/source.h"
#include "catena/tasks/task.h"

namespace catena::cli {

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
}

}  // namespace catena::cli

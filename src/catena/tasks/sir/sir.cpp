#include "catena/tasks/sir/sir.h"

#include "catena/tasks/parts/make.h"

namespace catena::tasks::sir {

Task make(const Options& options) {
  check_config("sir", options);
  Task task = parts::make_task_of("sir", options, parts::rates_between({"gamma", "beta"}, 0, Constants{}.largest_rate),
                                  {"susceptible", "infected", "recovered"}, step);
  task.version = 2;  // 2: rates instead of what their sigmoids are taken of
  task.initial_state = [](Stream& stream, std::span<double> state) {
    state[0] = 2.5 + 2.5 * stream.uniform();  // S ~ U(2.5, 5)
    state[1] = 2.5 * stream.uniform();        // I ~ U(0, 2.5)
    state[2] = 0;
  };
  task.fixed_proposal = parts::uniform_proposal(3, 0, options.proposal_width);
  task.predictive = {{"series", 100}, {"length", 50}, {"noise", 0.3}, {"non_negative", true}};
  return task;
}

TaskEntry entry() {
  return parts::entry_of("sir", "susceptible, infected, recovered: two rates", make,
                         [](const Options&, const Run& run) { return likelihood(run.states); });
}

}  // namespace catena::tasks::sir

#include "catena/tasks/kolmogorov_flow/kolmogorov_flow.h"

#include "catena/tasks/kolmogorov_flow/solver.h"
#include "catena/tasks/parts/make.h"

namespace catena::tasks::kolmogorov_flow {

namespace {

std::vector<std::string> velocity_names(std::size_t side) {
  std::vector<std::string> names;
  for (const char* component : {"u", "v"}) {
    for (std::size_t i = 0; i < side; ++i) {
      for (std::size_t j = 0; j < side; ++j) names.push_back(fmt::format("{}_{}_{}", component, i, j));
    }
  }
  return names;
}

}  // namespace

Task make(const Options& options) {
  check_config("kolmogorov_flow", options);
  constexpr Constants constants;
  prior::Prior prior;
  prior.add({"density"}, prior::logit_normal(0, 1, 0, 1));
  prior.add({"reynolds"},
            prior::logit_normal(0, 1, constants.lowest_reynolds, constants.lowest_reynolds + constants.reynolds_range));
  const auto solver = std::make_shared<const Solver>(options);
  Task task = parts::make_task_of(
      "kolmogorov_flow", options, std::move(prior), velocity_names(options.side()),
      [solver, sigma = options.sigma](const simulate::StepInput& input, Stream& stream, StateBlock next) {
        step(*solver, sigma, input, stream, next);
      });
  task.initial_state = [solver, options](Stream& stream, std::span<double> state) {
    initial_state(*solver, options, stream, state);
  };
  task.state_shape = fmt::format("2x{0}x{0}", options.side());
  task.single_precision = true;  // as the solver, and the noise is a hundred thousand times as large
  // Independent coordinates are no velocity of a fluid, so there is no fixed proposal. The paper's mix, for any budget:
  // half of the transitions in rollouts of 100, half in rollouts of 10.
  task.proposal = {{"proposal", "rollout"}, {"length", 100}, {"short_length", 10}};
  return task;
}

TaskEntry entry() {
  TaskEntry entry =
      parts::entry_of("kolmogorov_flow", "a turbulent fluid on a grid, its density and Reynolds number", make,
                      [](const Options& options, const Run& run) { return likelihood(options, run.states); });
  entry.small = {{"grid", 32}, {"inner_steps", 2}};
  return entry;
}

}  // namespace catena::tasks::kolmogorov_flow

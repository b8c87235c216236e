// A simulator of one's own in C++: its transitions in a file, for catena train. docs/guide/simulator-cpp.md shows it.

#include <catena/simulate/model.h>
#include <catena/simulate/transitions/transitions.h>

#include <cmath>

using namespace catena;

/// A population N with growth rate r and capacity K in a changing world: N' = N exp(r (1 − N/K) + s ε).
struct Ricker {
  void step(const simulate::StepInput& input, Stream& stream, StateBlock next) const {
    for (std::size_t l = 0; l < next.lanes; ++l) {
      const double r = input.theta(0, l), K = input.theta(1, l), s = input.theta(2, l), N = input.state(0, l);
      next(0, l) = N * std::exp(r * (1 - N / K) + s * stream.normal());
    }
  }
};

int main() {
  simulate::Model model;
  model.simulator = simulate::make_simulator("ricker", {"r", "K", "s"}, {"N"}, Ricker{});
  model.prior.add({"r"}, prior::uniform(0, 2));
  model.prior.add({"K"}, prior::log_normal(3, 0.5));
  model.prior.add({"s"}, prior::half_normal(0.3));
  model.initial_state = simulate::fixed_state({10});

  simulate::SimulationPlan plan;
  plan.proposal = {{"proposal", "predictive"}, {"series", 20}, {"length", 50}};
  plan.budget = 10000;
  plan.seed = 1;
  simulate::simulate_to_file("transitions.nc", model, plan, Parallel(), silent_progress());
}

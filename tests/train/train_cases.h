/// Small training sets with known answers, for the tests of train/ and of what is built on it.
#pragma once

#include "catena/simulate/transitions/transitions.h"
#include "catena/simulate/whole_series/series_simulation.h"
#include "catena/tasks/task.h"
#include "catena/train/method.h"

namespace catena::train {

inline simulate::TransitionSet transitions_of(std::string_view task, std::uint64_t budget,
                                              const nlohmann::json& options, std::uint64_t seed = 3) {
  simulate::SimulationPlan plan;
  plan.proposal = {{"proposal", "fixed"}};  // all of the budget are rows
  plan.budget = budget;
  plan.seed = seed;
  return simulate::simulate(tasks::make_task(task, options), plan, Parallel(2), silent_progress());
}

/// Whole series of so many transitions.
inline simulate::SeriesSet series_of(std::string_view task, std::size_t transitions, std::uint64_t budget,
                                     const nlohmann::json& options = nlohmann::json::object(), std::uint64_t seed = 3,
                                     int threads = 2) {
  simulate::SimulationPlan plan;
  plan.proposal = {{"proposal", "fixed"}};
  plan.budget = budget;
  plan.seed = seed;
  return simulate::simulate_series_set(tasks::make_task(task, options), plan, {.transitions = transitions},
                                       Parallel(threads), silent_progress());
}

/// Room for transitions of two states "a" and "b" and one parameter, for tests that fill it themselves.
inline simulate::TransitionSet two_state_set(std::size_t rows) {
  simulate::TransitionSet set;
  set.z = set.theta = Matrix(rows, 1);
  set.x = set.x_next = Matrix(rows, 2);
  set.time = Matrix(rows, 0);
  set.prior = prior::Prior::standard({"theta"});
  set.state_names = {"a", "b"};
  return set;
}

/// A model after few steps, which are therefore large; of transitions or of whole series.
template <class Set>
model::TrainedModel train_briefly(std::string_view method, const Set& set, const nlohmann::json& settings, int steps,
                                  int batch_size, int threads = 2) {
  TrainingData data(set, {});
  LoopSettings loop;
  loop.steps = steps;
  loop.batch_size = batch_size;
  loop.optimizer.learning_rate = 5e-3;
  return train(method, {.data = data,
                        .loop = loop,
                        .settings = settings,
                        .streams = Streams(1),
                        .parallel = Parallel(threads),
                        .progress = silent_progress(),
                        .checkpoint = {}});
}

}  // namespace catena::train

#include "catena/prior/prior.h"
#include "catena/tasks/ar.h"
#include "catena/tasks/double_well.h"
#include "catena/tasks/gaussian_rw.h"
#include "catena/tasks/linear_sde.h"
#include "catena/tasks/lotka_volterra.h"
#include "catena/tasks/mixture_rw.h"
#include "catena/tasks/periodic_sde.h"
#include "catena/tasks/sir.h"
#include "catena/tasks/stationary_ar1.h"
#include "catena/tasks/task.h"
#include "catena/tasks/ti_gaussian_rw.h"

namespace catena::tasks {

namespace {

template <class Options, Task (*make)(const Options&)>
TaskEntry entry(std::string_view name, std::string_view help) {
  return {name, help, describe_fields<Options>(),
          [](const nlohmann::json& options) { return make(from_json<Options>("task", options)); }};
}

}  // namespace

const Registry<TaskEntry>& registry() {
  static const Registry<TaskEntry> tasks(
      "task",
      {
          entry<GaussianRwOptions, make_gaussian_rw>("gaussian_rw", "x' = 0.9 x + theta + noise"),
          entry<TiGaussianRwOptions, make_ti_gaussian_rw>("ti_gaussian_rw", "x' = (0.9 + 1/(t+1)) x + theta + noise"),
          entry<MixtureRwOptions, make_mixture_rw>("mixture_rw",
                                                   "x' = x ± theta + sigma noise, either sign with equal chance"),
          entry<PeriodicSdeOptions, make_periodic_sde>("periodic_sde",
                                                       "a stochastic oscillator in two dimensions, four modes"),
          entry<LinearSdeOptions, make_linear_sde>(
              "linear_sde", "a linear stochastic differential equation, drift and diffusion unknown"),
          entry<DoubleWellOptions, make_double_well>("double_well", "four particles in a double-well potential"),
          entry<LotkaVolterraOptions, make_lotka_volterra>("lotka_volterra", "predators and prey, four rates"),
          entry<SirOptions, make_sir>("sir", "susceptible, infected, recovered: two rates"),
          entry<ArOptions, make_ar>("ar", "an autoregression of order m, its coefficients unknown"),
          entry<StationaryAr1Options, make_stationary_ar1>("stationary_ar1",
                                                           "gaussian_rw with x0 from its stationary distribution"),
      });
  return tasks;
}

Task make_task(std::string_view name, const nlohmann::json& options) {
  return registry().at("task", name).make(options);
}

namespace {

nlohmann::json fixed_proposal(std::size_t states, const prior::FactorPtr& factor, std::size_t times) {
  prior::Prior distribution;
  for (const std::string& name : simulate::numbered_names("x", states)) distribution.add({name}, factor);
  nlohmann::json json = {{"proposal", "fixed"}, {"states", distribution.to_json()}};
  if (times > 0) json["times"] = times;
  return json;
}

}  // namespace

nlohmann::json normal_proposal(std::size_t states, double sd, std::size_t times) {
  return fixed_proposal(states, prior::normal(0, sd), times);
}

nlohmann::json uniform_proposal(std::size_t states, double low, double high) {
  return fixed_proposal(states, prior::uniform(low, high), 0);
}

}  // namespace catena::tasks

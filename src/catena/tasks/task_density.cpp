#include "catena/tasks/task_density.h"

#include "catena/core/check.h"
#include "catena/tasks/ar.h"
#include "catena/tasks/ar_density.h"
#include "catena/tasks/double_well.h"
#include "catena/tasks/double_well_density.h"
#include "catena/tasks/gaussian_rw.h"
#include "catena/tasks/gaussian_rw_density.h"
#include "catena/tasks/joined_likelihood.h"
#include "catena/tasks/linear_sde.h"
#include "catena/tasks/linear_sde_density.h"
#include "catena/tasks/lotka_volterra.h"
#include "catena/tasks/lotka_volterra_density.h"
#include "catena/tasks/mixture_rw.h"
#include "catena/tasks/mixture_rw_density.h"
#include "catena/tasks/periodic_sde.h"
#include "catena/tasks/periodic_sde_density.h"
#include "catena/tasks/sir.h"
#include "catena/tasks/sir_density.h"
#include "catena/tasks/stationary_ar1.h"
#include "catena/tasks/stationary_ar1_density.h"
#include "catena/tasks/ti_gaussian_rw.h"
#include "catena/tasks/ti_gaussian_rw_density.h"

namespace catena::tasks {

namespace {

/// A piece of a path whose steps are all the same.
struct Run {
  ConstMatrixView series;
  double step = 1;         // of the simulator's
  double first_time = 0;   // t of its first state
  bool from_start = true;  // that one is x⁰
};

struct DensityEntry {
  std::string_view name;
  bool any_step;  // the density over several steps is known too
  std::unique_ptr<SeriesLikelihood> (*make)(const nlohmann::json& options, const Run& run);
};

std::size_t size(int dim) { return static_cast<std::size_t>(dim); }

const Registry<DensityEntry>& densities() {
  using nlohmann::json;
  static const Registry<DensityEntry> registry(
      "task with an exact reference",
      {
          {"gaussian_rw", true,
           [](const json& options, const Run& run) {
             const auto o = from_json<GaussianRwOptions>("gaussian_rw", options);
             return gaussian_rw_likelihood({.dim = size(o.dim)}, run.series,
                                           std::vector<double>(run.series.rows - 1, run.step));
           }},
          {"ti_gaussian_rw", false,
           [](const json& options, const Run& run) {
             const auto o = from_json<TiGaussianRwOptions>("ti_gaussian_rw", options);
             return ti_gaussian_rw_likelihood({.dim = size(o.dim)}, run.series, run.first_time);
           }},
          {"mixture_rw", false,
           [](const json& options, const Run& run) {
             const auto o = from_json<MixtureRwOptions>("mixture_rw", options);
             return mixture_rw_likelihood({.dim = size(o.dim), .sigma = o.sigma}, run.series);
           }},
          {"periodic_sde", true,
           [](const json& options, const Run& run) {
             const auto o = from_json<PeriodicSdeOptions>("periodic_sde", options);
             return periodic_sde_likelihood({.steps = static_cast<int>(periodic_sde_steps) * static_cast<int>(run.step),
                                             .dt = periodic_sde_dt,
                                             .noise = periodic_sde_noise,
                                             .minus_sign = o.minus_sign},
                                            run.series);
           }},
          {"linear_sde", true,
           [](const json& options, const Run& run) {
             const auto o = from_json<LinearSdeOptions>("linear_sde", options);
             LinearSdeConstants constants;
             constants.n = size(o.dim);
             constants.steps = static_cast<int>(linear_sde_steps) * static_cast<int>(run.step);
             constants.dt = linear_sde_dt;
             constants.drift_scale = o.drift_scale;
             return linear_sde_likelihood(constants, run.series);
           }},
          {"double_well", false,
           [](const json& options, const Run& run) {
             from_json<DoubleWellOptions>("double_well", options);
             return double_well_likelihood(
                 {.dim = double_well_states, .steps = static_cast<int>(double_well_steps), .dt = double_well_dt},
                 run.series);
           }},
          {"lotka_volterra", false,
           [](const json& options, const Run& run) {
             const auto o = from_json<LotkaVolterraOptions>("lotka_volterra", options);
             return lotka_volterra_likelihood(
                 {.sigma = o.sigma, .steps = static_cast<int>(lotka_volterra_steps), .dt = lotka_volterra_dt},
                 run.series);
           }},
          {"sir", false,
           [](const json& options, const Run& run) {
             from_json<SirOptions>("sir", options);
             return sir_likelihood({.steps = static_cast<int>(sir_steps),
                                    .dt = sir_dt,
                                    .noise = sir_noise,
                                    .infection_noise = sir_infected_noise},
                                   run.series);
           }},
          {"ar", false,
           [](const json& options, const Run& run) {
             const auto o = from_json<ArOptions>("ar", options);
             return ar_likelihood(size(o.order), ar_scale, run.series);
           }},
          {"stationary_ar1", false,
           [](const json& options, const Run& run) {
             const auto o = from_json<StationaryAr1Options>("stationary_ar1", options);
             return stationary_ar1_likelihood({.dim = size(o.dim), .coefficient = stationary_ar1_coefficient},
                                              run.series, run.from_start);
           }},
      });
  return registry;
}

}  // namespace

bool has_density(std::string_view task) { return densities().find(task) != nullptr; }

simulate::KnownSteps density_steps(std::string_view task) {
  constexpr double longest = 10000;  // whose inner steps are still counted by an int
  return densities().at("reference", task).any_step ? simulate::KnownSteps{1, longest, true} : simulate::KnownSteps{};
}

std::unique_ptr<SeriesLikelihood> series_likelihood(const Task& task, ConstMatrixView series) {
  return densities().at("reference", task.name).make(task.options, {.series = series});
}

std::unique_ptr<SeriesLikelihood> series_likelihood(const Task& task, std::span<const simulate::Path> paths) {
  const DensityEntry& entry = densities().at("reference", task.name);
  std::vector<std::unique_ptr<SeriesLikelihood>> parts;
  for (const simulate::Path& path : paths) {
    const std::size_t rows = path.states.rows(), order = task.simulator.order;
    if (rows <= order && !(path.from_start && task.initial_given_theta)) continue;  // no factor at all
    for (std::size_t begin = 0; begin < rows;) {
      std::size_t end = begin + 1;  // the run's last row
      while (end + 1 < rows && path.steps[end] == path.steps[begin]) ++end;
      end = std::min(end, rows - 1);
      const double step = rows > 1 ? path.steps[begin] : 1;
      check::that(step == 1 || entry.any_step, "reference", "a step of the series", step,
                  fmt::format("1: over longer ones the density of {} is not known", task.name));
      parts.push_back(entry.make(task.options, {.series = path.states.view().slice_rows(begin, end + 1),
                                                .step = step,
                                                .first_time = path.times[begin],
                                                .from_start = path.from_start && begin == 0}));
      if (end + 1 >= rows) break;
      begin = end;
    }
  }
  check::at_least("reference", "the number of transitions of the series", parts.size(), std::size_t{1});
  return joined_likelihood(std::move(parts));
}

}  // namespace catena::tasks

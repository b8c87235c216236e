#include "catena/tasks/task_density.h"

#include "catena/tasks/double_well.h"
#include "catena/tasks/double_well_density.h"
#include "catena/tasks/gaussian_rw.h"
#include "catena/tasks/gaussian_rw_density.h"
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
#include "catena/tasks/ti_gaussian_rw.h"
#include "catena/tasks/ti_gaussian_rw_density.h"

namespace catena::tasks {

namespace {

struct DensityEntry {
  std::string_view name;
  std::unique_ptr<SeriesLikelihood> (*make)(const nlohmann::json& options, ConstMatrixView series);
};

std::size_t size(int dim) { return static_cast<std::size_t>(dim); }

const Registry<DensityEntry>& densities() {
  using nlohmann::json;
  static const Registry<DensityEntry> registry(
      "task with an exact reference",
      {
          {"gaussian_rw",
           [](const json& options, ConstMatrixView series) {
             const auto o = from_json<GaussianRwOptions>("gaussian_rw", options);
             return gaussian_rw_likelihood({.dim = size(o.dim)}, series);
           }},
          {"ti_gaussian_rw",
           [](const json& options, ConstMatrixView series) {
             const auto o = from_json<TiGaussianRwOptions>("ti_gaussian_rw", options);
             return ti_gaussian_rw_likelihood({.dim = size(o.dim)}, series);
           }},
          {"mixture_rw",
           [](const json& options, ConstMatrixView series) {
             const auto o = from_json<MixtureRwOptions>("mixture_rw", options);
             return mixture_rw_likelihood({.dim = size(o.dim), .sigma = o.sigma}, series);
           }},
          {"periodic_sde",
           [](const json& options, ConstMatrixView series) {
             const auto o = from_json<PeriodicSdeOptions>("periodic_sde", options);
             return periodic_sde_likelihood({.steps = static_cast<int>(periodic_sde_steps),
                                             .dt = periodic_sde_dt,
                                             .noise = periodic_sde_noise,
                                             .minus_sign = o.minus_sign},
                                            series);
           }},
          {"linear_sde",
           [](const json& options, ConstMatrixView series) {
             const auto o = from_json<LinearSdeOptions>("linear_sde", options);
             LinearSdeConstants constants;
             constants.n = size(o.dim);
             constants.steps = static_cast<int>(linear_sde_steps);
             constants.dt = linear_sde_dt;
             constants.drift_scale = o.drift_scale;
             return linear_sde_likelihood(constants, series);
           }},
          {"double_well",
           [](const json& options, ConstMatrixView series) {
             from_json<DoubleWellOptions>("double_well", options);
             return double_well_likelihood(
                 {.dim = double_well_states, .steps = static_cast<int>(double_well_steps), .dt = double_well_dt},
                 series);
           }},
          {"lotka_volterra",
           [](const json& options, ConstMatrixView series) {
             const auto o = from_json<LotkaVolterraOptions>("lotka_volterra", options);
             return lotka_volterra_likelihood(
                 {.sigma = o.sigma, .steps = static_cast<int>(lotka_volterra_steps), .dt = lotka_volterra_dt}, series);
           }},
          {"sir",
           [](const json& options, ConstMatrixView series) {
             from_json<SirOptions>("sir", options);
             return sir_likelihood({.steps = static_cast<int>(sir_steps),
                                    .dt = sir_dt,
                                    .noise = sir_noise,
                                    .infection_noise = sir_infected_noise},
                                   series);
           }},
      });
  return registry;
}

}  // namespace

bool has_density(std::string_view task) { return densities().find(task) != nullptr; }

std::unique_ptr<SeriesLikelihood> series_likelihood(const Task& task, ConstMatrixView series) {
  return densities().at("reference", task.name).make(task.options, series);
}

}  // namespace catena::tasks

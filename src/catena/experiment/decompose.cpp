#include "catena/experiment/decompose.h"

#include <cmath>

#include "catena/compose/rule.h"
#include "catena/evaluate/metric.h"
#include "catena/experiment/exact_scores.h"
#include "catena/experiment/reference_draws.h"
#include "catena/sample/diffusion/sample.h"
#include "catena/tasks/observe.h"
#include "catena/tasks/task.h"

namespace catena::experiment {
namespace {

std::vector<nlohmann::json> usual_samplers() {
  return {{{"sampler", "euler_maruyama"}, {"steps", 500}},
          {{"sampler", "euler_maruyama"}, {"steps", 2000}},
          {{"sampler", "stochastic_heun"}, {"steps", 60}},
          {{"sampler", "stochastic_heun"}, {"steps", 500}, {"tolerance", 0.01}},
          {{"sampler", "predictor_corrector"}, {"steps", 250}, {"corrections", 4}},
          {{"sampler", "annealed_langevin"}, {"steps", 100}, {"corrections", 20}},
          {{"sampler", "heun"}, {"steps", 60}}};
}

}  // namespace

std::vector<DecomposedCell> decompose(const Decomposition& plan, const Parallel& parallel, Progress& progress) {
  const diffusion::Schedule schedule;
  const std::vector<nlohmann::json> samplers = plan.samplers.empty() ? usual_samplers() : plan.samplers;
  std::vector<DecomposedCell> cells;
  progress.start("decompose", "cells",
                 plan.tasks.size() * plan.transitions.size() * plan.rules.size() * samplers.size());
  for (const std::string& name : plan.tasks) {
    const tasks::Task task = tasks::make_task(name);
    for (const std::size_t T : plan.transitions) {
      for (const std::string& rule : plan.rules) {
        for (const nlohmann::json& sampler : samplers) {
          const auto settings = from_json<sample::SampleSettings>("experiment", sampler);
          DecomposedCell cell{name, rule, sampler, T};
          double squares = 0;
          for (std::size_t o = 0; o < plan.observations; ++o) {
            const auto observation = tasks::observe("experiment", task, T, plan.first_observation + o);
            const Matrix reference = reference_draws(task, {&observation, 1}, plan.draws, parallel);
            const ExactScores source(task, observation.series, schedule);
            const auto score =
                compose::compose(rule, {.source = &source, .schedule = schedule, .precisions = source.precisions()});
            const sample::DiffusionDraws draws =
                sample::diffusion_sample(*score, plan.draws, settings, Streams(1), parallel);
            cell.evaluations = draws.info.evaluations;
            const double c2st = evaluate::metrics()
                                    .at("experiment", "c2st")
                                    .compute(draws.z, reference, Streams(0), parallel)
                                    .get<double>();
            cell.c2st += c2st / static_cast<double>(plan.observations);
            squares += c2st * c2st / static_cast<double>(plan.observations);
          }
          const auto n = static_cast<double>(plan.observations);
          if (n > 1) cell.standard_error = std::sqrt(std::max(0.0, squares - cell.c2st * cell.c2st) / (n - 1));
          cells.push_back(std::move(cell));
          progress.advance(1);
        }
      }
    }
  }
  progress.finish();
  return cells;
}

}  // namespace catena::experiment

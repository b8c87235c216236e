#include "catena/sample/diffusion/sampler.h"

namespace catena::sample {

const Registry<Sampler>& samplers() {
  static const Registry<Sampler> registry(
      "sampler",
      {
          {.name = "euler_maruyama",
           .help = "reverse diffusion, Euler–Maruyama; the paper's",
           .order = 1,
           .clock = Clock::tau,
           .stages = 1,
           .weights = {1}},
          {.name = "stochastic_heun",
           .help = "reverse diffusion, Heun's method with additive noise",
           .order = 2,
           .clock = Clock::tau,
           .stages = 2,
           .nodes = {0, 1},
           .stage_weights = {{{}, {1}}},
           .weights = {0.5, 0.5}},
          {.name = "corrected_heun",
           .help = "stochastic Heun with Langevin steps, which mend what a rule's path gets wrong",
           .order = 1,
           .clock = Clock::tau,
           .stages = 2,
           .nodes = {0, 1},
           .stage_weights = {{{}, {1}}},
           .weights = {0.5, 0.5},
           .corrections = 5},
          {.name = "predictor_corrector",
           .help = "Euler–Maruyama with Langevin steps at every level",
           .order = 1,
           .clock = Clock::tau,
           .stages = 1,
           .weights = {1},
           .corrections = 1},
          {.name = "annealed_langevin",
           .help = "Langevin steps alone, level after level",
           .order = 0,
           .clock = Clock::tau,
           .stages = 0,
           .corrections = 5},
          {.name = "ddim", .help = "probability flow, Euler's method in σ/m", .order = 1, .stages = 1, .weights = {1}},
          {.name = "heun",
           .help = "probability flow, Heun's method",
           .order = 2,
           .stages = 2,
           .nodes = {0, 1},
           .stage_weights = {{{}, {1}}},
           .weights = {0.5, 0.5}},
          // The third-order method of least error bound (ralston1962).
          {.name = "ralston3",
           .help = "probability flow, Ralston's third-order method",
           .order = 3,
           .stages = 3,
           .nodes = {0, 0.5, 0.75},
           .stage_weights = {{{}, {0.5}, {0, 0.75}}},
           .weights = {2.0 / 9, 1.0 / 3, 4.0 / 9}},
      });
  return registry;
}

namespace {

std::vector<std::string> samplers_that(bool (*wanted)(const Sampler&)) {
  std::vector<std::string> names;
  for (const Sampler& sampler : samplers()) {
    if (wanted(sampler)) names.emplace_back(sampler.name);
  }
  return names;
}

}  // namespace

std::vector<std::string> correcting_samplers() {
  return samplers_that([](const Sampler& sampler) { return sampler.corrections > 0; });
}

std::vector<std::string> adaptive_samplers() {
  return samplers_that([](const Sampler& sampler) { return sampler.adaptive(); });
}

}  // namespace catena::sample

/// What composition and sampling cost by themselves: draws by *exact* local scores, compared with the exact posterior,
/// for tasks whose local posteriors are known at every noise level. What is left of an error with networks is then
/// theirs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catena/core/parallel.h"
#include "catena/core/progress.h"

namespace catena::experiment {

struct Decomposition {
  std::vector<std::string> tasks{"gaussian_rw", "mixture_rw"};  // the ones that are possible
  std::vector<std::string> rules{"gauss", "jac"};
  std::vector<nlohmann::json> samplers;  // settings of the diffusion sampler; empty: a list of usual ones
  std::vector<std::size_t> transitions{1, 10, 100};
  std::size_t observations = 3;
  std::uint64_t first_observation = 2001;
  std::size_t draws = 1000;
};

struct DecomposedCell {
  std::string task, rule;
  nlohmann::json sampler;
  std::size_t transitions = 0;
  double c2st = 0, standard_error = 0;  // over observations
  std::size_t evaluations = 0;          // of the series' score, per particle
};

std::vector<DecomposedCell> decompose(const Decomposition& plan, const Parallel& parallel, Progress& progress);

}  // namespace catena::experiment
